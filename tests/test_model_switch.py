"""A project that moves to another embedding model: all of the application, with fake models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from documents import make_text
from fakes import FakeGenerator, WordCounter
from ingest.indexing_world import CountingEmbedder, PowerCut
from rag_source import wiring
from rag_source.application import Application
from rag_source.domain.chunks import Vector
from rag_source.domain.errors import RequestError
from rag_source.domain.ports import Embedder
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.ingest.loader_tools import PageProgress
from rag_source.model_servers import ModelServers
from rag_source.models.library import ModelLibrary
from rag_source.settings import DataSettings, Settings, StateSettings
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.collection import bound_model
from store_inputs import engine_folder


class _Embedder(CountingEmbedder):
    """Waits for `open` before it embeds a question, and counts those."""

    def __init__(self, name: str, dimension: int, *, limit_tokens: int = 512) -> None:
        super().__init__(name=name, dimension=dimension, limit_tokens=limit_tokens)
        self.asked = 0
        self.open = asyncio.Event()
        self.open.set()

    async def embed_query(self, text: str) -> Vector:
        self.asked += 1
        vector = await super().embed_query(text)
        await self.open.wait()
        return vector


@dataclass
class Installed:
    """The models of a run: `wanted` is that of the settings, `others` can be run besides."""

    settings: Settings
    wanted: _Embedder
    others: tuple[Embedder, ...] = ()
    parsed: list[str] = field(default_factory=list)

    def asks_for(self, wanted: _Embedder, *others: Embedder) -> None:
        self.wanted, self.others = wanted, others

    @property
    def collections(self) -> list[str]:
        return sorted(path.name for path in self.settings.state_dir().glob("vectors*"))

    @property
    def answering(self) -> str:
        """The model of the collection that the next start will open."""
        with SqliteCatalogue(self.settings.state_dir() / "catalogue.db") as catalogue:
            model = bound_model(self.settings.state_dir() / catalogue.collection)
        assert model is not None
        return model.name


@pytest.fixture
def first() -> _Embedder:
    return _Embedder("first", 64)


@pytest.fixture
def second() -> _Embedder:
    return _Embedder("second", 32)


@pytest.fixture
def installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: _Embedder
) -> Iterator[Installed]:
    """Three indexed documents, on files in memory."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("pump", "oven", "boat"):
        make_text(corpus / f"{name}.txt", f"The warranty of the {name} ends in spring.")
    with engine_folder() as folder:
        settings = Settings(
            data=DataSettings(dir=corpus, watch="poll", poll_s=1),
            state=StateSettings(dir=folder / "state"),
        )
        found = Installed(settings, first)

        @asynccontextmanager
        async def open_fakes(
            settings: Settings, library: ModelLibrary
        ) -> AsyncIterator[ModelServers]:
            yield ModelServers(
                embedder=found.wanted,
                generator=FakeGenerator(),
                counter=WordCounter(),
                endpoints=(),
                others=found.others,
            )

        class _Parser(InProcessParser):
            async def parse(self, path: Path, *, on_progress: PageProgress | None = None) -> object:  # type: ignore[override]  # only counted
                found.parsed.append(path.name)
                return await super().parse(path, on_progress=on_progress)

        @asynccontextmanager
        async def open_here(settings: Settings, *_: object) -> AsyncIterator[Parser]:
            yield _Parser(LoaderRegistry())  # type: ignore[misc]  # as above

        monkeypatch.setattr(wiring, "open_models", open_fakes)
        monkeypatch.setattr(wiring, "open_parser", open_here)
        asyncio.run(_ingest(found))
        found.parsed.clear()
        yield found


async def _ingest(installed: Installed) -> None:
    async with wiring.open_application(installed.settings, purpose="test") as application:
        await application.ingest()


async def _found(application: Application, question: str = "warranty of the oven") -> list[str]:
    result = await application.search(question, mode="hybrid", limit=3)
    return [item.chunk.path for item in result.evidence]


async def test_old_index_answers_a_command_that_only_asks(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second, first)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        assert (await _found(application))[0] == "oven.txt"
        health = await application.health()
    assert (first.asked, second.asked) == (1, 0)
    assert health.reembedding is not None
    assert (health.reembedding.former, health.reembedding.wanted) == ("first", "second")
    assert any("rag-source ingest" in warning for warning in health.warnings)
    assert not any("first" in problem for problem in health.problems)
    assert installed.answering == "first"


async def test_ingest_moves_the_index_and_parses_nothing(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second, first)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        await application.ingest()
        assert (await _found(application))[0] == "oven.txt"
        health = await application.health()
        failed = [check async for check in application.checks() if check.name == "index"]
    assert (first.asked, second.asked > 0) == (0, True)
    assert (health.reembedding, health.documents, health.chunks) == (None, 3, 3)
    assert [check.ok for check in failed] == [True]
    assert installed.parsed == []
    assert installed.answering == "second"
    assert len(installed.collections) == 1


async def test_index_can_move_there_and_back(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    for wanted, other in ((second, first), (first, second), (second, first)):
        installed.asks_for(wanted, other)
        await _ingest(installed)
        assert installed.answering == wanted.model.name
        assert len(installed.collections) == 1
    async with wiring.open_application(installed.settings, purpose="test") as application:
        assert (await _found(application))[0] == "oven.txt"


async def test_words_answer_where_the_former_model_cannot_be_run(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        result = await application.search("warranty of the oven", mode="hybrid+rerank", limit=3)
        assert result.mode == "bm25"
        assert result.evidence[0].chunk.path == "oven.txt"
        with pytest.raises(RequestError) as caught:
            await application.search("warranty", mode="dense", limit=3)
        assert caught.value.code == "collection_mismatch"
        problems = (await application.health()).problems
        assert any("'first'" in line and "rag-source up" in line for line in problems)
    assert (first.asked, second.asked) == (0, 0)
    await _ingest(installed)
    assert installed.answering == "second"


async def _until_moved(application: Application) -> None:
    async with asyncio.timeout(60):
        while (await application.health()).reembedding:  # noqa: ASYNC110  # several tasks
            await asyncio.sleep(0.02)


@asynccontextmanager
async def _kept(installed: Installed) -> AsyncIterator[Application]:
    async with wiring.open_application(installed.settings, purpose="test") as application:
        keeping = asyncio.create_task(application.keep_index())
        try:
            yield application
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping


async def test_service_moves_the_index_while_it_answers_and_follows_the_folder(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second, first)
    root = installed.settings.data_dir()
    make_text(root / "new.txt", "The warranty of the lamp ends in autumn.")
    async with _kept(installed) as application:
        while not second.embedded:
            assert (await _found(application))[0] == "oven.txt"
        await _until_moved(application)
        assert (await _found(application))[0] == "oven.txt"
        async with asyncio.timeout(60):
            while "new.txt" not in await _found(application, "warranty of the lamp"):  # noqa: ASYNC110  # several tasks
                await asyncio.sleep(0.05)
    assert second.asked
    assert installed.answering == "second"
    assert "new.txt" in installed.parsed
    assert not {"pump.txt", "oven.txt", "boat.txt"} & set(installed.parsed)


async def test_service_whose_former_model_is_gone_answers_by_words_and_then_indexes_what_waited(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second)
    make_text(installed.settings.data_dir() / "new.txt", "The warranty of the lamp ends in autumn.")
    started, go_on = asyncio.Event(), asyncio.Event()
    embed = second.embed_passages

    async def wait_first(texts: Sequence[str]) -> list[Vector]:
        started.set()
        await go_on.wait()
        return await embed(texts)

    second.embed_passages = wait_first  # type: ignore[method-assign]  # holds the move for a while
    async with _kept(installed) as application:
        await started.wait()
        result = await application.search("warranty of the oven", mode="hybrid+rerank", limit=3)
        assert (result.mode, result.evidence[0].chunk.path) == ("bm25", "oven.txt")
        assert any("wait until" in line for line in (await application.health()).problems)
        go_on.set()
        await _until_moved(application)
        async with asyncio.timeout(60):
            while len(await application.documents()) < 4 or (await application.queue()).jobs:  # noqa: ASYNC110  # several tasks
                await asyncio.sleep(0.05)
        assert "new.txt" in await _found(application, "warranty of the lamp")
    assert first.embedded.count("The warranty of the lamp ends in autumn.") == 0


async def test_search_under_way_at_the_swap_ends_on_the_index_it_began_with(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second, first)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        first.open.clear()
        searching = asyncio.create_task(_found(application))
        while not first.asked:  # noqa: ASYNC110  # the task's own first steps
            await asyncio.sleep(0)
        moving = asyncio.create_task(application.ingest())
        while (await application.health()).reembedding:  # noqa: ASYNC110  # several tasks
            await asyncio.sleep(0.02)
        assert (await _found(application))[0] == "oven.txt"
        assert second.asked == 1
        # The former collection stays until the last search of it has ended.
        assert len(installed.collections) == 2
        first.open.set()
        assert (await searching)[0] == "oven.txt"
        await moving
    assert len(installed.collections) == 1


async def test_embedder_that_is_away_holds_the_move_back_and_health_says_so(
    installed: Installed, first: _Embedder, second: _Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.asks_for(second, first)
    second.broken = True
    monkeypatch.setattr("rag_source.model_switch._RETRY_S", 0.05)
    async with _kept(installed) as application:
        async with asyncio.timeout(60):
            while not any("made anew" in one for one in (await application.health()).problems):  # noqa: ASYNC110  # several tasks
                await asyncio.sleep(0.02)
        assert (await _found(application))[0] == "oven.txt"
        second.broken = False
        await _until_moved(application)
        assert not any("made anew" in one for one in (await application.health()).problems)
    assert installed.answering == "second"


async def test_end_of_the_process_on_the_way_pays_nothing_twice(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    for n in range(4):
        make_text(installed.settings.data_dir() / f"{n}.txt", f"Words of number {n}.\n\n" * 30)
    await _ingest(installed)
    installed.asks_for(second, first)
    ends = 0
    while True:
        calls = [0]

        def end(texts: Sequence[str], calls: list[int] = calls) -> None:
            calls[0] += 1
            if calls[0] == 2:
                raise PowerCut

        second.before = end
        try:
            await _ingest(installed)
        except PowerCut:
            ends += 1
            assert installed.answering == "first"
            continue
        break
    assert ends > 5
    texts = second.embedded
    assert len(texts) == len(set(texts))
    assert installed.answering == "second"


async def test_end_right_after_the_swap_leaves_the_new_index_and_its_records(
    installed: Installed, first: _Embedder, second: _Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.asks_for(second, first)
    adopt = SqliteCatalogue.adopt

    def adopt_and_end(*arguments: object) -> None:
        adopt(*arguments)  # type: ignore[arg-type]  # passed on
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr(SqliteCatalogue, "adopt", adopt_and_end)
        with pytest.raises(PowerCut):
            await _ingest(installed)
    assert installed.answering == "second"
    assert len(installed.collections) == 2
    second.embedded.clear()
    async with wiring.open_application(installed.settings, purpose="test") as application:
        assert (await _found(application))[0] == "oven.txt"
        assert (await application.health()).reembedding is None
        await application.ingest()
    assert second.embedded == []
    assert len(installed.collections) == 1


async def test_end_right_before_the_swap_leaves_the_old_index_and_its_records(
    installed: Installed, first: _Embedder, second: _Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.asks_for(second, first)

    def end(*arguments: object) -> None:
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr(SqliteCatalogue, "adopt", end)
        with pytest.raises(PowerCut):
            await _ingest(installed)
    assert installed.answering == "first"
    embedded = list(second.embedded)
    await _ingest(installed)
    assert second.embedded == embedded
    assert installed.answering == "second"


async def test_move_that_was_given_up_leaves_nothing_behind(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second, first)
    second.before = _ends
    with pytest.raises(PowerCut):
        await _ingest(installed)
    installed.asks_for(first, second)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        # One who only asks deletes nothing: the settings may be those of another shell.
        assert len(installed.collections) == 2
        assert (await application.health()).reembedding is None
        await application.ingest()
    assert installed.collections == ["vectors"]


def _ends(texts: Sequence[str]) -> None:
    raise PowerCut


async def test_collection_that_was_deleted_by_hand_is_made_again_from_the_files(
    installed: Installed, first: _Embedder, second: _Embedder
) -> None:
    installed.asks_for(second, first)
    await _ingest(installed)
    (name,) = installed.collections
    for path in sorted((installed.settings.state_dir() / name).rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (installed.settings.state_dir() / name).rmdir()
    installed.asks_for(first, second)
    await _ingest(installed)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        assert (await _found(application))[0] == "oven.txt"
        assert all(record.status == "ready" for record in await application.documents())
    assert installed.answering == "first"


async def test_same_model_with_another_limit_is_cut_anew_without_a_parse(
    installed: Installed, first: _Embedder
) -> None:
    shorter = _Embedder("first", 64, limit_tokens=96)
    installed.asks_for(shorter)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        result = await application.search("warranty of the oven", mode="hybrid", limit=1)
        assert result.mode == "hybrid"
        await application.ingest()
    assert installed.parsed == []
    assert len(installed.collections) == 1


async def test_model_of_one_language_is_a_warning_where_documents_are_in_another(
    installed: Installed, second: _Embedder
) -> None:
    text = "Le délai de livraison est de trente jours après la commande du client."
    make_text(installed.settings.data_dir() / "delai.txt", text)
    english = _Embedder("english", 32)
    english.model = replace(english.model, languages=("en",))
    installed.asks_for(english)
    await _ingest(installed)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        health = await application.health()
    (warning,) = [one for one in health.warnings if "made for en only" in one]
    assert "1 documents in fr" in warning


async def test_model_that_the_reranker_does_not_know_is_a_warning_and_still_ranks(
    installed: Installed, second: _Embedder
) -> None:
    installed.asks_for(second)
    await _ingest(installed)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        result = await application.search("warranty of the oven", mode="hybrid+rerank", limit=3)
        health = await application.health()
        checks = {check.name: check.ok async for check in application.checks()}
    assert result.evidence[0].chunk.path == "oven.txt"
    assert result.evidence[0].kept
    assert any("reranker was not fitted to 'second'" in one for one in health.warnings)
    assert checks["reranker"]


async def test_absent_model_refuses_in_one_line_that_says_what_to_do(
    installed: Installed, second: _Embedder
) -> None:
    installed.asks_for(second)
    async with wiring.open_application(installed.settings, purpose="test") as application:
        (check,) = [one async for one in application.checks() if one.name == "embedder"]
    assert not check.ok
    assert "rag-source ingest" in check.remedy
    assert "\n" not in check.detail
