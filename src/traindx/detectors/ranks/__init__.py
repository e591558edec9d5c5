"""Findings about the processes of a distributed training."""
