"""Ranking measures against values worked out by hand from the definitions of trec_eval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.eval.metrics import (
    by_document,
    hit_at,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank_at,
)


def test_a_document_counts_once_at_its_best_chunk() -> None:
    assert by_document(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 0.0), (2, 1.0), (6, 1.0)], ids=["too deep", "at the edge", "inside"]
)
def test_hit_is_whether_one_gold_is_in_time(k: int, expected: float) -> None:
    assert hit_at(k, ["x", "g", "h"], ["g", "h"]) == expected


def test_recall_is_the_share_of_the_gold_found() -> None:
    assert recall_at(2, ["g", "x", "h"], ["g", "h"]) == 0.5


def test_reciprocal_rank_is_nothing_beyond_its_depth() -> None:
    assert reciprocal_rank_at(10, ["x", "x2", "x3", "g"], ["g"]) == 0.25
    assert reciprocal_rank_at(3, ["x", "x2", "x3", "g"], ["g"]) == 0.0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    gain = 1 / math.log2(3) + 1 / math.log2(4)
    ideal = 1 + 1 / math.log2(3)

    assert ndcg_at(10, ["x", "g", "h"], ["g", "h"]) == pytest.approx(gain / ideal)


def test_ndcg_is_one_where_gold_fills_the_depth() -> None:
    assert ndcg_at(2, ["g", "h"], ["g", "h", "i"]) == pytest.approx(1.0)


def test_the_mean_of_nothing_is_none() -> None:
    assert mean([]) is None


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.sets(st.sampled_from("abcdefgh"), min_size=1),
)
def test_measures_lie_between_none_and_all(ranking: list[str], gold: set[str]) -> None:
    for value in (
        hit_at(6, ranking, gold),
        recall_at(6, ranking, gold),
        reciprocal_rank_at(10, ranking, gold),
        ndcg_at(10, ranking, gold),
    ):
        assert 0 <= value <= 1 + 1e-12
