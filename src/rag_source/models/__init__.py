"""Model files: pins, download, verification, token ranks. Never runs a model."""
