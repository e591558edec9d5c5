"""Changing one thing in an unmodified training while it runs."""
