"""Finding evidence: BM25 weights, fusion and depth, reranking, the threshold."""

from rag_source.retrieval.bm25 import BM25_VERSION, Bm25Encoder, Bm25Policy
from rag_source.retrieval.reranker import CalibratedReranker, RerankerModel, load_reranker_model
from rag_source.retrieval.search import HybridRetriever, SearchPolicy

__all__ = [
    "BM25_VERSION",
    "Bm25Encoder",
    "Bm25Policy",
    "CalibratedReranker",
    "HybridRetriever",
    "RerankerModel",
    "SearchPolicy",
    "load_reranker_model",
]
