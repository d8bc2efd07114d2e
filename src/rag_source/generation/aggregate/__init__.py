"""Calculations over table rows: read the wish, select the rows, compute, and show all of it."""

from rag_source.generation.aggregate.calculator import Calculator, Computed
from rag_source.generation.aggregate.wishes import Wish, read_wish

__all__ = ["Calculator", "Computed", "Wish", "read_wish"]
