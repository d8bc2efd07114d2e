"""From a question to ranked evidence: BM25 terms, search, reranking, threshold."""
