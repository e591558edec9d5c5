"""Findings about gradients: their size, their flow, how they are cleared and clipped."""
