"""The settings of the models: services by address, and what they must be."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr

__all__ = ["EmbedSettings", "LlmSettings", "RequireSettings", "Section", "check_services"]


class Section(BaseModel):
    """A section of the settings: frozen, and without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LlmSettings(Section):
    """The answer model."""

    url: str = Field(
        default="",
        description="An OpenAI-compatible service that answers instead of the embedded model, such "
        "as `http://127.0.0.1:8080` or `https://host/v1`. If its address is neither this machine's "
        "nor a private one, questions and passages leave the machine.",
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of that service.")
    model: str = Field(default="", description="Name of the model at that service.")
    context_size: int = Field(
        default=4096, ge=1024, le=131072, description="Context of the answer model, in tokens."
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Threads of the answer model; 0 takes one for each core.",
    )


class EmbedSettings(Section):
    """The embedding model."""

    url: str = Field(
        default="",
        description="An OpenAI-compatible service that embeds instead of the embedded model; the "
        "model's name and dimension must be given too. If its address is neither this machine's "
        "nor a private one, all text of the documents and questions leaves the machine.",
    )
    api_key: SecretStr = Field(default=SecretStr(""), description="Key of that service.")
    model: str = Field(
        default="",
        description="Name of the model at that service. An index belongs to one model: another "
        "name makes it anew behind the one that answers.",
    )
    dimension: int = Field(
        default=0, ge=0, le=65536, description="Numbers in a vector of that model."
    )
    limit_tokens: int = Field(
        default=512, ge=96, le=131072, description="Longest text that model reads, in tokens."
    )
    query_prefix: str = Field(
        default="", description="What that model wants before a question, such as `query: `."
    )
    passage_prefix: str = Field(
        default="", description="What that model wants before a passage, such as `passage: `."
    )
    languages: str = Field(
        default="",
        pattern=r"^([a-z]{2,3}(,[a-z]{2,3})*)?$",
        description="Languages that model was made for, such as `en` or `fr,en`. Default: all, "
        "unless its name says that it is English only.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Threads of the embedder for passages; 0 takes one for each core.",
    )


class RequireSettings(Section):
    """What the program refuses to start without."""

    local_llm: bool = Field(
        default=False,
        description="Refuse to start with a model, of answers or of embeddings, that is not on "
        "this machine or its private network.",
    )


def check_services(llm: LlmSettings, embed: EmbedSettings, *, prefix: str) -> None:
    """A service without its model, or a model without a service, is a slip of the pen.

    Raises:
        ValueError: It names the variables, which begin with `prefix`.
    """
    if embed.url and not (embed.model and embed.dimension):
        raise ValueError(f"{prefix}EMBED_URL needs {prefix}EMBED_MODEL and {prefix}EMBED_DIMENSION")
    if embed.model and not embed.url:
        raise ValueError(f"{prefix}EMBED_MODEL needs {prefix}EMBED_URL")
    if llm.model and not llm.url:
        raise ValueError(f"{prefix}LLM_MODEL needs {prefix}LLM_URL")
