"""The models as the application uses them: child processes of the profile, or services by address.

Nothing is started or asked here but the name of a service, which tells whether text would leave
the machine.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import httpx

from rag_source.clients.embeddings import MULTILINGUAL_E5_SMALL_Q4, HttpEmbedder
from rag_source.clients.estimates import EstimatingCounter
from rag_source.clients.llama_server import LlamaGenerator
from rag_source.clients.services import ModelService, look_up, read_service, service_client
from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import ConfigurationError, RagError
from rag_source.domain.ports import Embedder, Endpoint, TextGenerator, TokenCounter
from rag_source.domain.sovereignty import Outflow
from rag_source.models.embedding_languages import languages_of
from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import Role
from rag_source.runtime.supervisor import ManagedServer
from rag_source.settings import EmbedSettings, LlmSettings, Settings

__all__ = ["ModelServers", "open_models", "require_models"]

_KINDS: Mapping[Role, str] = {"llm": "answer model", "embed": "embedding model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServers:
    """The models that the settings name; nothing has been started yet.

    `endpoints` are what can be started ahead of the first question. `others` are embedders that can
    be run besides, for an index that was made by one of them. `services` names the models that are
    reached by address, by role; the other roles need a model of the profile. `outflows` are what
    goes outside, `warnings` what the user should know of that.
    """

    embedder: Embedder
    generator: TextGenerator
    counter: TokenCounter
    endpoints: tuple[Endpoint, ...]
    others: tuple[Embedder, ...] = ()
    services: Mapping[str, str] = field(default_factory=dict)
    outflows: tuple[Outflow, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that models of the profile have."""
        return tuple(role for role in _KINDS if role not in self.services)


def require_models(library: ModelLibrary, profile: str, roles: tuple[Role, ...]) -> None:
    """Raise ModelMissingError if the profile's model for one of the roles is not in the cache."""
    for role in roles:
        library.require(profile, role)


@asynccontextmanager
async def open_models(settings: Settings, library: ModelLibrary) -> AsyncIterator[ModelServers]:
    """The models of the settings; a child process starts when it is first asked.

    Raises:
        ConfigurationError: An address cannot be used, or is external where that is refused.
    """
    services = await _services(settings)
    async with AsyncExitStack() as stack:
        llm, embed = services.get("llm"), services.get("embed")
        started: list[Endpoint] = []
        others: tuple[Embedder, ...] = ()
        if embed is None:
            embedder, server = await _own_embedder(settings, library, stack)
            started.append(server)
        else:
            embedder = HttpEmbedder(
                embed,
                await stack.enter_async_context(service_client(embed)),
                _model_of(settings),
                dialect=embed.dialect(_KINDS["embed"]),
            )
            if _is_there(library, settings.profile):
                others = ((await _own_embedder(settings, library, stack))[0],)
        if llm is None:
            generator, server = await _own_generator(settings, library, stack)
            started.append(server)
        else:
            generator = LlamaGenerator(
                llm,
                await stack.enter_async_context(service_client(llm)),
                dialect=llm.dialect(_KINDS["llm"]),
                context_tokens=settings.llm.context_size,
            )
        yield ModelServers(
            embedder=embedder,
            generator=generator,
            counter=_LazyCounter(lambda: _counter(settings, library, by_service=llm is not None)),
            endpoints=tuple(started),
            others=others,
            services={role: _shown(one) for role, one in services.items()},
            outflows=_outflows(settings, services),
            warnings=tuple(_unencrypted(role, one) for role, one in services.items() if one.leaks),
        )


async def _services(settings: Settings) -> dict[Role, ModelService]:
    """The services of the settings, judged by their addresses, before anything is sent.

    Raises:
        ConfigurationError: An address cannot be used, or is external where that is refused.
    """
    found: dict[Role, ModelService] = {}
    sections: dict[Role, LlmSettings | EmbedSettings]
    sections = {"llm": settings.llm, "embed": settings.embed}
    for role, section in sections.items():
        if section.url:
            found[role] = await read_service(
                section.url,
                variable=_variable(role),
                api_key=section.api_key.get_secret_value(),
                model=section.model,
                lookup=look_up,
            )
    outside = [role for role, one in found.items() if not one.is_local]
    if settings.require.local_llm and outside:
        role = outside[0]
        raise ConfigurationError(
            f"{_variable(role)} leads to {found[role].host!r}, which is neither this machine nor "
            "on its private network, and RAG_SOURCE_REQUIRE_LOCAL_LLM forbids that",
            hint=f"unset {_variable(role)}, or give it a local address",
            code="external_refused",
        )
    return found


def _variable(role: Role) -> str:
    return f"RAG_SOURCE_{role.upper()}_URL"


def _shown(service: ModelService) -> str:
    return f"{service.model} at {service.host}" if service.model else service.host


def _outflows(settings: Settings, services: Mapping[Role, ModelService]) -> tuple[Outflow, ...]:
    asked = "each question and the passages found for it"
    if settings.contextual == "llm":
        asked += ", and every passage of every document while it is indexed"
    what: Mapping[Role, str] = {
        "llm": asked,
        "embed": "all text of every document, passage by passage, and each question",
    }
    return tuple(
        Outflow(to=one.host, what=what[role]) for role, one in services.items() if not one.is_local
    )


def _unencrypted(role: Role, service: ModelService) -> str:
    return (
        f"the {_KINDS[role]} at {service.host} is reached without encryption: whoever is on the "
        f"way reads all that is sent; use https in {_variable(role)}"
    )


def _model_of(settings: Settings) -> EmbeddingModel:
    """What the settings say of the embedding service's model."""
    embed = settings.embed
    return EmbeddingModel(
        name=embed.model,
        dimension=embed.dimension,
        limit_tokens=embed.limit_tokens,
        query_prefix=embed.query_prefix,
        passage_prefix=embed.passage_prefix,
        languages=languages_of(embed.model, embed.languages),
    )


def _is_there(library: ModelLibrary, profile: str) -> bool:
    """Whether the profile's own embedder can be run."""
    try:
        library.require(profile, "embed")
    except RagError:
        return False
    return True


async def _own_embedder(
    settings: Settings, library: ModelLibrary, stack: AsyncExitStack
) -> tuple[HttpEmbedder, ManagedServer]:
    server = await stack.enter_async_context(
        ManagedServer(
            "embedder",
            _command("embed_server", threads=settings.embed.threads),
            http=await _client(stack),
            before_start=lambda: library.require(settings.profile, "embed"),
        )
    )
    return HttpEmbedder(server, await _client(stack), MULTILINGUAL_E5_SMALL_Q4), server


async def _own_generator(
    settings: Settings, library: ModelLibrary, stack: AsyncExitStack
) -> tuple[LlamaGenerator, ManagedServer]:
    server = await stack.enter_async_context(
        ManagedServer(
            "answer model",
            _command(
                "llm_server",
                model=library.path(settings.profile, "llm"),
                context_tokens=settings.llm.context_size,
                threads=settings.llm.threads,
            ),
            http=await _client(stack),
            before_start=lambda: library.require(settings.profile, "llm"),
        )
    )
    return LlamaGenerator(server, await _client(stack)), server


async def _client(stack: AsyncExitStack) -> httpx.AsyncClient:
    # A proxy set for the outside must not see what goes to our own children. They speak plain HTTP
    # on loopback: loading certificates for them would cost 0.2 s a client.
    return await stack.enter_async_context(
        httpx.AsyncClient(trust_env=False, verify=False)  # noqa: S501 - no TLS at all.
    )


def _command(program: str, **options: object) -> list[str]:
    """How to start one of `runtime`'s programs with this interpreter."""
    command = [sys.executable, "-m", f"rag_source.runtime.{program}"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    return command


def _counter(settings: Settings, library: ModelLibrary, *, by_service: bool) -> TokenCounter:
    """Counts in the profile's vocabulary; for a service, of whose nothing is known, an estimate
    where that is not there."""
    try:
        return library.ranks(settings.profile)
    except RagError:
        if not by_service:
            raise
        return EstimatingCounter()


class _LazyCounter:
    """Loads the vocabulary at the first count: listing documents must not pay for it."""

    def __init__(self, load: Callable[[], TokenCounter]) -> None:
        self._load = load
        self._counter: TokenCounter | None = None

    def count(self, text: str) -> int:
        if self._counter is None:
            self._counter = self._load()
        return self._counter.count(text)
