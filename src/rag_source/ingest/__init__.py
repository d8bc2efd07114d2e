"""From files to chunks: loaders, chunking, the incremental indexer. Knows the domain only."""

from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.indexer import Indexer, IndexingPolicy, Progress
from rag_source.ingest.inspection import FileInspection, Selection, inspect, select_files
from rag_source.ingest.parsing import InProcessParser, Parser, ParsingPolicy
from rag_source.ingest.registry import LoaderRegistry

__all__ = [
    "ChunkingPolicy",
    "FileInspection",
    "InProcessParser",
    "Indexer",
    "IndexingPolicy",
    "LoaderRegistry",
    "Parser",
    "ParsingPolicy",
    "Progress",
    "Selection",
    "inspect",
    "select_files",
]
