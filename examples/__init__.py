"""Short real cases; `examples.run` runs one in a copy of its folder."""
