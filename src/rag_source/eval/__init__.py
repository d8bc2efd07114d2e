"""Deterministic measurement: datasets, metrics, the quote checks."""
