"""One module for each format, found by the registry. A loader knows no other loader."""
