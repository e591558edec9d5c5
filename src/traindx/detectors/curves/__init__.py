"""Findings in the curves of a run."""
