"""Detectors of what was measured of a model with data, without a training."""
