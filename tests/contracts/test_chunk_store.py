"""What every `ChunkStore` promises, on the fake and on the engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import FakeChunkStore
from rag_source.domain.evidence import SearchFilter, SearchMode
from rag_source.domain.ports import ChunkQuery, ChunkStore
from rag_source.store.edge import EdgeChunkStore
from store_inputs import MODEL, embedded, engine_folder, make_chunk, terms, unit

HYBRIDS: tuple[SearchMode, ...] = ("hybrid", "hybrid+rerank")
ALL_MODES: tuple[SearchMode, ...] = ("dense", "bm25", *HYBRIDS)


@pytest.fixture(scope="module")
def edge() -> Iterator[EdgeChunkStore]:
    """Opened once, because making an engine's files takes a while."""
    with engine_folder() as folder, EdgeChunkStore(folder, MODEL) as store:
        yield store


@pytest.fixture(params=["fake", "edge"])
async def store(request: pytest.FixtureRequest) -> ChunkStore:
    """An empty store of each kind."""
    if request.param == "fake":
        return FakeChunkStore()
    edge: EdgeChunkStore = request.getfixturevalue("edge")
    await edge.remove(sorted(await edge.doc_ids()))
    return edge


@pytest.fixture(params=["fake", "edge"])
def fresh_store(request: pytest.FixtureRequest, folder: Path) -> Iterator[ChunkStore]:
    """A store that never held anything: until its next optimisation, the engine's IDF is a little
    off after deletions."""
    if request.param == "fake":
        yield FakeChunkStore()
    else:
        with EdgeChunkStore(folder, MODEL) as store:
            yield store


def query(
    mode: SearchMode = "hybrid",
    *,
    filter: SearchFilter | None = None,
    limit: int = 10,
    depth: int = 10,
    words: tuple[int, ...] = (1,),
    signals: bool = False,
) -> ChunkQuery:
    return ChunkQuery(
        mode=mode,
        limit=limit,
        depth=depth,
        dense=() if mode == "bm25" else tuple(unit(1)),
        sparse=terms() if mode == "dense" else terms(*words),
        filter=filter or SearchFilter(),
        signals=signals,
    )


async def found(store: ChunkStore, asked: ChunkQuery) -> list[str]:
    return [candidate.chunk.chunk_id for candidate in await store.search(asked)]


async def fill(store: ChunkStore) -> None:
    """Four documents: `near` leads by cosine, `word` by BM25, `both` is second in each."""
    await store.replace(
        "near",
        [embedded(make_chunk("near", path="a/near.pdf"), dense=unit(1), terms={2: 1.0})],
    )
    await store.replace(
        "both",
        [
            embedded(
                make_chunk("both", path="a/b/both.md", language="en"),
                dense=unit(1, 0.2),
                terms={1: 1.0},
                sentences=[unit(0, 1), unit(1, 1)],
            )
        ],
    )
    await store.replace(
        "word",
        [embedded(make_chunk("word", path="ab/word.md"), dense=unit(0, 1), terms={1: 2.0})],
    )
    await store.replace(
        "far",
        [embedded(make_chunk("far", path="far.html"), dense=unit(-1), terms={3: 1.0})],
    )


@pytest.mark.parametrize("mode", ALL_MODES)
async def test_empty_store_finds_nothing(store: ChunkStore, mode: SearchMode) -> None:
    assert await store.search(query(mode, signals=True)) == []
    assert await store.count() == 0
    assert await store.doc_ids() == set()


async def test_chunk_comes_back_whole(store: ChunkStore) -> None:
    chunk = make_chunk("whole", 7, text="Total : 3 240 unités – عربي 😀", path="é/ü.pdf")
    await store.replace("whole", [embedded(chunk)])
    (candidate,) = await store.search(query("dense"))
    assert candidate.chunk == chunk


async def test_dense_orders_by_cosine(store: ChunkStore) -> None:
    await fill(store)
    candidates = await store.search(query("dense"))
    assert [c.chunk.doc_id for c in candidates] == ["near", "both", "word", "far"]
    assert candidates[0].score == pytest.approx(1.0)
    assert candidates[3].score == pytest.approx(-1.0)


async def test_bm25_orders_by_weight_times_idf_and_leaves_out_the_rest(store: ChunkStore) -> None:
    await fill(store)
    candidates = await store.search(query("bm25"))
    idf = (await store.term_idf([1]))[1]
    assert [c.chunk.doc_id for c in candidates] == ["word", "both"]
    assert [c.score for c in candidates] == pytest.approx([2 * idf, idf], rel=1e-5)


async def test_bm25_finds_nothing_for_terms_no_chunk_has(store: ChunkStore) -> None:
    await fill(store)
    assert await store.search(query("bm25", words=(99,))) == []


async def test_bm25_finds_nothing_for_a_query_without_terms(store: ChunkStore) -> None:
    await fill(store)
    assert await store.search(query("bm25", words=())) == []


@pytest.mark.parametrize("mode", HYBRIDS)
async def test_hybrid_without_terms_orders_by_cosine(store: ChunkStore, mode: SearchMode) -> None:
    await fill(store)
    order = await found(store, query(mode, words=()))
    assert order == ["near#0", "both#0", "word#0", "far#0"]


@pytest.mark.parametrize("mode", HYBRIDS)
async def test_hybrid_scores_are_reciprocal_ranks(store: ChunkStore, mode: SearchMode) -> None:
    await fill(store)
    scores = {c.chunk.doc_id: c.score for c in await store.search(query(mode))}
    assert scores == pytest.approx(
        {
            "both": 1 / (2 / 1.2 + 4) + 1 / (2 + 4),
            "word": 1 / (3 / 1.2 + 4) + 1 / (1 + 4),
            "near": 1 / (1 / 1.2 + 4),
            "far": 1 / (4 / 1.2 + 4),
        }
    )


async def test_hybrid_takes_depth_candidates_of_each_list(store: ChunkStore) -> None:
    await fill(store)
    assert set(await found(store, query("hybrid", depth=1))) == {"near#0", "word#0"}


@pytest.mark.parametrize("mode", ALL_MODES)
async def test_limit_cuts_the_list(store: ChunkStore, mode: SearchMode) -> None:
    await fill(store)
    whole = await found(store, query(mode))
    assert await found(store, query(mode, limit=1)) == whole[:1]
    assert await found(store, query(mode, limit=0)) == []


async def test_equal_scores_come_in_reading_order(store: ChunkStore) -> None:
    await store.replace("d", [embedded(make_chunk("d", i)) for i in (2, 0, 1)])
    assert await found(store, query("dense")) == ["d#0", "d#1", "d#2"]


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize(
    ("restriction", "kept"),
    [
        pytest.param(SearchFilter(paths=("a/near.pdf", "ab/word.md")), "near word", id="paths"),
        pytest.param(SearchFilter(folders=("a",)), "near both", id="folder"),
        pytest.param(SearchFilter(folders=("a/b/",)), "both", id="folder-with-slash"),
        pytest.param(SearchFilter(folders=("",)), "near both word far", id="root"),
        pytest.param(SearchFilter(doc_ids=("word",)), "word", id="doc-ids"),
        pytest.param(SearchFilter(excluded_doc_ids=("both", "far")), "near word", id="excluded"),
        pytest.param(SearchFilter(languages=("en",)), "both", id="language"),
        pytest.param(SearchFilter(formats=("md",)), "both word", id="format"),
        pytest.param(SearchFilter(formats=("md",), folders=("a",)), "both", id="all-must-hold"),
        pytest.param(
            SearchFilter(doc_ids=("word",), excluded_doc_ids=("word",)), "", id="excluded-wins"
        ),
        pytest.param(SearchFilter(paths=("no/such.file",)), "", id="nothing-left"),
    ],
)
async def test_filter_holds_for_every_candidate(
    store: ChunkStore, mode: SearchMode, restriction: SearchFilter, kept: str
) -> None:
    await fill(store)
    everything = await found(store, query(mode))
    wanted = {f"{doc_id}#0" for doc_id in kept.split()}
    assert set(await found(store, query(mode, filter=restriction))) == wanted & set(everything)


async def test_filter_is_applied_before_the_depth_is_counted(store: ChunkStore) -> None:
    await fill(store)
    excluded = SearchFilter(excluded_doc_ids=("near", "word"))
    assert await found(store, query("hybrid", filter=excluded, depth=1)) == ["both#0"]


@pytest.mark.parametrize("mode", HYBRIDS)
async def test_signals_come_with_every_candidate(store: ChunkStore, mode: SearchMode) -> None:
    await fill(store)
    by_id = {c.chunk.doc_id: c for c in await store.search(query(mode, signals=True))}
    idf = (await store.term_idf([1]))[1]
    assert len(by_id) == 4
    assert by_id["both"].dense == pytest.approx(1 / math.sqrt(1.04), rel=1e-4)
    assert by_id["both"].sentence == pytest.approx(1 / math.sqrt(2), abs=1e-3)
    assert by_id["both"].bm25 == pytest.approx(idf, rel=1e-5)
    assert by_id["far"].dense == pytest.approx(-1.0)
    assert by_id["far"].bm25 == 0.0
    assert by_id["far"].sentence is None


async def test_signals_without_known_terms_have_a_bm25_of_zero(store: ChunkStore) -> None:
    await fill(store)
    candidates = await store.search(query("hybrid", words=(), signals=True))
    assert [c.bm25 for c in candidates] == [0.0] * 4


async def test_without_signals_a_candidate_has_its_own_mode_only(store: ChunkStore) -> None:
    await fill(store)
    (dense, *_) = await store.search(query("dense"))
    (bm25, *_) = await store.search(query("bm25"))
    (fused, *_) = await store.search(query("hybrid"))
    assert (dense.dense, dense.sentence, dense.bm25) == (dense.score, None, None)
    assert (bm25.dense, bm25.sentence, bm25.bm25) == (None, None, bm25.score)
    assert (fused.dense, fused.sentence, fused.bm25) == (None, None, None)


async def test_replace_leaves_only_the_new_chunks(store: ChunkStore) -> None:
    old = [embedded(make_chunk("d", i, text=f"vieux {i}")) for i in range(3)]
    new = [embedded(make_chunk("d", i, text=f"neuf {i}")) for i in range(2)]
    await store.replace("d", old)
    await store.replace("other", [embedded(make_chunk("other"))])
    await store.replace("d", new)
    texts = {c.chunk.text for c in await store.search(query("dense"))}
    assert texts == {"neuf 0", "neuf 1", "Deux mots."}
    assert await store.count() == 3


async def test_replace_by_nothing_forgets_the_document(store: ChunkStore) -> None:
    await fill(store)
    await store.replace("near", [])
    assert await store.doc_ids() == {"both", "word", "far"}


async def test_replace_refuses_a_chunk_of_another_document(store: ChunkStore) -> None:
    with pytest.raises(ValueError, match="not one of 'd'"):
        await store.replace("d", [embedded(make_chunk("other"))])
    assert await store.count() == 0


async def test_remove_forgets_documents_and_ignores_unknown_ones(store: ChunkStore) -> None:
    await fill(store)
    await store.remove(["near", "unknown", "far"])
    await store.remove([])
    assert await store.doc_ids() == {"both", "word"}
    assert await store.count() == 2


async def test_rename_changes_the_path_and_keeps_the_vectors(store: ChunkStore) -> None:
    await fill(store)
    before = {c.chunk.doc_id: c for c in await store.search(query(signals=True))}
    await store.rename("both", "moved/here/both.txt")
    after = {c.chunk.doc_id: c for c in await store.search(query(signals=True))}
    assert after["both"].chunk.path == "moved/here/both.txt"
    for doc_id, candidate in after.items():
        was = before[doc_id]
        assert (candidate.score, candidate.dense, candidate.sentence, candidate.bm25) == (
            was.score,
            was.dense,
            was.sentence,
            was.bm25,
        )


@pytest.mark.parametrize(
    ("restriction", "expected"),
    [
        (SearchFilter(folders=("moved",)), ["both#0"]),
        (SearchFilter(folders=("a/b",)), []),
        (SearchFilter(paths=("a/b/both.md",)), []),
        (SearchFilter(formats=("txt",)), ["both#0"]),
    ],
    ids=["new-folder", "old-folder", "old-path", "new-format"],
)
async def test_filters_follow_a_rename(
    store: ChunkStore, restriction: SearchFilter, expected: list[str]
) -> None:
    await fill(store)
    await store.rename("both", "moved/here/both.txt")
    assert await found(store, query("dense", filter=restriction)) == expected


async def test_rename_of_an_unknown_document_changes_nothing(store: ChunkStore) -> None:
    await fill(store)
    await store.rename("unknown", "x.txt")
    assert await store.doc_ids() == {"near", "both", "word", "far"}


async def test_term_idf_follows_the_formula_and_every_write(fresh_store: ChunkStore) -> None:
    store = fresh_store
    await fill(store)
    idf = await store.term_idf([1, 2, 99])
    assert idf == pytest.approx(
        {1: math.log(1 + 2.5 / 2.5), 2: math.log(1 + 3.5 / 1.5), 99: math.log(1 + 4.5 / 0.5)},
        rel=1e-5,
    )
    await store.replace("new", [embedded(make_chunk("new"), terms={99: 0.5})])
    assert await store.term_idf([99]) == pytest.approx({99: math.log(1 + 4.5 / 1.5)}, rel=1e-5)


async def test_term_idf_of_nothing_is_empty(store: ChunkStore) -> None:
    assert await store.term_idf([]) == {}


async def test_chunk_ids_are_those_of_the_document_alone(store: ChunkStore) -> None:
    one, two, other = make_chunk("a", 0), make_chunk("a", 1), make_chunk("b", 0)
    await store.replace("a", [embedded(one), embedded(two)])
    await store.replace("b", [embedded(other)])
    assert await store.chunk_ids("a") == {one.chunk_id, two.chunk_id}
    assert await store.chunk_counts() == {"a": 2, "b": 1}
    await store.replace("a", [embedded(two)])
    assert await store.chunk_ids("a") == {two.chunk_id}
    assert await store.chunk_ids("unknown") == set()
