"""Findings about single layers: initialisation, signal, dead units, weights."""
