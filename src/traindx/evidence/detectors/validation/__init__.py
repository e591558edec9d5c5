"""Findings about validation: its level, its gap, how it is measured."""
