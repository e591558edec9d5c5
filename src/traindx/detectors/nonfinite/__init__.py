"""Findings about where the first NaN or Inf came from."""
