"""Findings about trainings in several processes."""
