"""`python -m rag_source` is `rag-source`."""

from rag_source.cli import main

main()
