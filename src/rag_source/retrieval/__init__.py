"""Finding evidence: BM25 weights, fusion and depth, reranking, the threshold."""

from rag_source.retrieval.bm25 import BM25_VERSION, Bm25Encoder, Bm25Policy
from rag_source.retrieval.reranker import (
    CalibratedReranker,
    RerankerModel,
    load_reranker_model,
    reranker_model_for,
)
from rag_source.retrieval.search import HybridRetriever, SearchPolicy
from rag_source.retrieval.switching import SwitchableRetriever, WordsOnlyRetriever

__all__ = [
    "BM25_VERSION",
    "Bm25Encoder",
    "Bm25Policy",
    "CalibratedReranker",
    "HybridRetriever",
    "RerankerModel",
    "SearchPolicy",
    "SwitchableRetriever",
    "WordsOnlyRetriever",
    "load_reranker_model",
    "reranker_model_for",
]
