"""Checkpoints: one reader for each format, one measurement for all of them."""
