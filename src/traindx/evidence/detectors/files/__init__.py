"""Findings about the data files that a training reads, or that are checked by themselves."""
