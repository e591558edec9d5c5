"""Findings about what the training loop does, measured while it ran."""
