"""From files to chunks: loaders, chunking, the incremental indexer. Knows the domain only."""
