"""From evidence to a checked answer: prompt, stream, support, quotes, verdicts."""

from rag_source.generation.answerer import Answerer
from rag_source.generation.check_file import CheckReport, run_checks
from rag_source.generation.prompts import GenerationPolicy
from rag_source.generation.quotes import locate

__all__ = [
    "Answerer",
    "CheckReport",
    "GenerationPolicy",
    "locate",
    "run_checks",
]
