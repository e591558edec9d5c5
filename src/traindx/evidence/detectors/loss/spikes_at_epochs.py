"""The spikes of the loss stand at epoch boundaries.

A sign that the order of the data matters: something comes round once an epoch. Seen when at least
{min_spikes} spikes, and most of them, lie within {max_spacing} of an epoch from a boundary, or always at the
same place inside the epoch.

Silent without spikes, when the log does not tell the length of an epoch, and when points are too far
apart to tell places inside an epoch.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._spiking import loss_jumps
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Spikes once an epoch", family="spike_place")


def detect(
    case: Case, loss: Curve, *, max_spacing: float = 0.05, min_spikes: int = 3, same_phase_share: float = 0.7
) -> Detected:
    epoch = case.epoch_length
    if len(loss) < 30 or epoch is None:
        return Skipped("a training loss of at least 30 values and the length of an epoch")
    if float(np.median(np.diff(loss.x))) > max_spacing * epoch:
        return Skipped(f"the loss at least {1 / max_spacing:.0f} times an epoch")
    jumps = np.array([jump.step for jump in loss_jumps(loss)])
    if jumps.size < min_spikes:
        return Skipped()
    phase = (jumps / epoch) % 1.0
    angle = np.exp(2j * np.pi * phase)
    place = float(np.angle(angle.mean()) / (2 * np.pi)) % 1.0
    off = np.abs((phase - place + 0.5) % 1.0 - 0.5)
    share = float((off <= max_spacing).mean())
    if share < same_phase_share:
        return None
    where = "at the epoch boundary" if min(place, 1 - place) <= max_spacing else f"{place:.0%} into the epoch"
    text = f"{int((off <= max_spacing).sum())} of {jumps.size} spikes of the loss are {where}."
    return Finding(text, step=float(jumps[0]))


def fires() -> Runs:
    loss = noisy(decay(500, 3.0, 1.0), 0.03)
    loss[[100, 200, 300, 400]] *= 6
    yield run({"loss": loss, "epoch": np.arange(500) / 100})


def silent() -> Runs:
    loss = noisy(decay(500, 3.0, 1.0), 0.03)
    yield run({"loss": loss, "epoch": np.arange(500) / 100})
    loss = loss.copy()
    loss[[117, 245, 380, 432]] *= 6
    yield run({"loss": loss, "epoch": np.arange(500) / 100})
