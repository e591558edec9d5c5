"""Conversions between units that are mixed up in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Multiples and offsets: after = multiple * before + offset.
_CONVERSIONS = {
    "degrees Celsius to Fahrenheit": (1.8, 32.0),
    "degrees Fahrenheit to Celsius": (1 / 1.8, -32 / 1.8),
    "degrees Celsius to kelvin": (1.0, 273.15),
    "kelvin to degrees Celsius": (1.0, -273.15),
    **{f"times {factor:g}": (factor, 0.0) for factor in (10.0, 100.0, 1000.0, 1e6, 60.0, 3600.0)},
    **{f"divided by {factor:g}": (1 / factor, 0.0) for factor in (10.0, 100.0, 1000.0, 1e6, 60.0, 3600.0)},
}
_FACTORS = {"m/s and km/h": 3.6, "inches and cm": 2.54, "pounds and kg": 2.20462, "miles and km": 1.60934,
            "feet and m": 3.28084, "m/s and mph": 2.23694, "inches and mm": 25.4}  # fmt: skip
for _units, _factor in _FACTORS.items():
    _CONVERSIONS[f"times {_factor:g}, as between {_units}"] = (_factor, 0.0)
    _CONVERSIONS[f"divided by {_factor:g}, as between {_units}"] = (1 / _factor, 0.0)


def conversion_of(changes: Sequence[tuple[float, float, float]]) -> str:
    """The conversion that fits most changes: what was expected, what is there, how many times as wide it is.

    Empty where none fits.
    """
    best, name = 0.12, ""
    ratio = float(np.median([widths for *_, widths in changes]))
    for candidate, (multiple, offset) in _CONVERSIONS.items():
        errors = [
            abs(multiple * expected + offset - observed) / max(abs(observed - expected), 1e-300)
            for expected, observed, _ in changes
        ]
        error = float(np.median(errors))
        if 1 / 1.3 <= ratio / multiple <= 1.3 and error < best:
            best, name = error, candidate
    return name
