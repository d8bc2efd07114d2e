"""From evidence to a checked answer: prompt, stream, support, quotes, verdicts."""

from rag_source.generation.answerer import Answerer, check_question
from rag_source.generation.check_file import CheckReport, run_checks
from rag_source.generation.prompts import GenerationPolicy
from rag_source.generation.quotes import locate

__all__ = [
    "Answerer",
    "CheckReport",
    "GenerationPolicy",
    "check_question",
    "locate",
    "run_checks",
]
