"""Where things are kept: the vector engine, the catalogue, the state directory's lock."""
