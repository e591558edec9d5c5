"""Findings about the training loop: what is called, when, and in which mode."""
