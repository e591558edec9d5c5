"""Runs compared: what differs, which is better and how surely, where they part, what to try."""
