"""Findings about NaN, Inf and precision."""
