"""Findings about the learning rate, its schedule, and the size of updates."""
