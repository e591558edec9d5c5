"""Findings about time, memory and how the process ended."""
