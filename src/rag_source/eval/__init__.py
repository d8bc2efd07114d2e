"""Measuring retrieval on questions whose answers are known.

`rag_source.eval.workspace` indexes a dataset; the rest works on any retriever.
"""

from rag_source.eval.compare import Comparison, compare
from rag_source.eval.datasets import Dataset, EvalDocument, EvalQuestion, read_dataset
from rag_source.eval.runner import EvalIndex, EvalResult, QuestionResult, ask_questions

__all__ = [
    "Comparison",
    "Dataset",
    "EvalDocument",
    "EvalIndex",
    "EvalQuestion",
    "EvalResult",
    "QuestionResult",
    "ask_questions",
    "compare",
    "read_dataset",
]
