"""Robust, scale-free statistics of curves: every detector measures with these.

Values may be of any size (1e-300 or 1e300 alike) and must be finite unless a function says otherwise.
Steps never decrease.
"""

from __future__ import annotations

from traindx.signal.changes import Piece, change_points, monotone_pieces
from traindx.signal.decays import Decay, decay, time_to
from traindx.signal.differences import Difference, paired, sign_test, unpaired, within
from traindx.signal.excursions import Spike, spikes
from traindx.signal.levels import autocorrelation, level, noise, significant_rise
from traindx.signal.stretches import Bins, align, bins, thin
from traindx.signal.student import t_reach, t_two_sided
from traindx.signal.swings import Oscillation, oscillation
from traindx.signal.trends import Trend, trend

__all__ = [
    "Bins",
    "Decay",
    "Difference",
    "Oscillation",
    "Piece",
    "Spike",
    "Trend",
    "align",
    "autocorrelation",
    "bins",
    "change_points",
    "decay",
    "level",
    "monotone_pieces",
    "noise",
    "oscillation",
    "paired",
    "sign_test",
    "significant_rise",
    "spikes",
    "t_reach",
    "t_two_sided",
    "thin",
    "time_to",
    "trend",
    "unpaired",
    "within",
]
