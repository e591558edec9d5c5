"""Robust, scale-free statistics of curves: every detector measures with these.

Values may be of any size (1e-300 or 1e300 alike) and must be finite unless a function says otherwise.
Steps never decrease.
"""

from __future__ import annotations

from traindx.evidence.stats.changes import Piece, change_points, monotone_pieces
from traindx.evidence.stats.decays import Decay, decay, time_to
from traindx.evidence.stats.differences import Difference, paired, sign_test, unpaired, within
from traindx.evidence.stats.excursions import Spike, spikes
from traindx.evidence.stats.levels import autocorrelation, level, noise, significant_rise
from traindx.evidence.stats.stretches import Bins, align, bins, thin
from traindx.evidence.stats.student import t_reach, t_two_sided
from traindx.evidence.stats.swings import Oscillation, oscillation
from traindx.evidence.stats.trends import Trend, trend

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
