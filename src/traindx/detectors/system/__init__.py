"""Findings about time and memory."""
