"""A sample shows every format and is the same every time."""

from __future__ import annotations

from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.sampling import sampled

REGISTRY = LoaderRegistry()
PATHS = sorted(
    [f"scans/{i:03}.pdf" for i in range(100)]
    + [f"notes/{i:03}.txt" for i in range(10)]
    + ["prices.xlsx", "page.HTML"]
    + [f"model.x{i}" for i in range(20)]
)


def test_every_format_has_its_turn() -> None:
    suffixes = [path.rpartition(".")[2].lower() for path in sampled(PATHS, 8, REGISTRY)]

    assert {"pdf", "txt", "xlsx", "html"} <= set(suffixes)
    assert suffixes.count("pdf") == 2


def test_files_that_no_loader_reads_are_one_format() -> None:
    chosen = sampled(PATHS, 5, REGISTRY)

    assert sum(REGISTRY.loader_for(path) is None for path in chosen) == 1


def test_formats_with_most_files_come_first_where_not_all_have_room() -> None:
    assert {path.rpartition(".")[2] for path in sampled(PATHS, 1, REGISTRY)} == {"pdf"}


def test_sample_is_the_same_whatever_the_order_of_the_listing() -> None:
    assert set(sampled(PATHS, 12, REGISTRY)) == set(sampled(PATHS[::-1], 12, REGISTRY))


def test_sample_keeps_the_order_of_the_paths() -> None:
    chosen = sampled(PATHS, 12, REGISTRY)

    assert chosen == sorted(chosen)
    assert len(chosen) == 12


def test_sample_is_spread_over_the_folder_not_its_first_names() -> None:
    chosen = sampled([f"{i:03}.txt" for i in range(100)], 5, REGISTRY)

    assert chosen != [f"{i:03}.txt" for i in range(5)]


def test_new_file_of_another_format_leaves_the_rest_of_the_sample_as_it_was() -> None:
    texts = [f"{i:03}.txt" for i in range(100)]

    assert set(sampled(texts, 5, REGISTRY)) - set(sampled([*texts, "a.pdf"], 6, REGISTRY)) == set()


def test_more_than_there_is_takes_all() -> None:
    assert sampled(["b.txt", "a.txt"], 12, REGISTRY) == ["b.txt", "a.txt"]
    assert sampled([], 12, REGISTRY) == []
