"""A run and its script become findings: shared views, statistics, and one detector per finding."""
