"""The loss was learning, then jumped to chance level and stays there.

That is ln K: from one step to the next the model predicts nothing any more. Seen when the loss was
clearly below such a level, rose, and has been resting within one percent of it.

Silent for losses that were at chance from the start (loss_at_chance) and for rises to other levels.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import where
from traindx.evidence.detectors._rise import objective_changes, rise_of
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss jumps to chance level", family="rise_to_chance", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    *,
    chance_tolerance: float = 0.01,
    best_below: float = 0.95,
    last_share: float = 0.1,
    min_points: int = 6,
) -> Detected:
    if objective_changes(case):
        return Skipped("an objective that stays the same (a weight of it is logged and rises)")
    rise = rise_of(loss)
    if rise is None or rise.z < 5 or not rise.end > 0:
        return None
    last = loss.y[-max(3, int(last_share * len(loss))) :]
    level = float(np.median(last))
    chance = case.task.chance_near(level, tolerance=chance_tolerance)
    if chance is None or rise.best > best_below * chance.level or np.ptp(last) > 0.05 * level:
        return None
    rest = [float(np.median(part)) for part in np.array_split(loss.y[-max(6, len(loss) // 5) :], 3)]
    if max(rest) - min(rest) > 0.01 * level:
        return None
    text = (
        f"The loss was {rise.best:.4g} at best and rests at {level:.5g} since {where(loss, rise.onset)}: "
        f"{chance.why} ({chance.level:.5g})."
    )
    numbers: dict[str, float | int | str] = {"chance": chance.level, "best_value": rise.best}
    grave: Severity = "critical" if rise.best < 0.8 * chance.level else "high"
    return Finding(
        text, "divergence", grave, rise.onset, float(loss.x[-1]), loss.name, numbers=numbers,
        marks=(rise.onset,),
    )  # fmt: skip


def fires() -> Runs:
    yield run({"loss": noisy([*decay(60, 2.3, 0.5), *[2.3026] * 60], 0.005)})
    yield run({"loss": [1.64, 11.8, 11.6, 10.38, 10.3735, 10.3735, 10.3735, 10.3735, 10.3735, 10.3735]})


def silent() -> Runs:
    yield run({"loss": noisy([*decay(60, 2.3, 0.5), *[1.25] * 60], 0.005)})
    yield run({"loss": noisy([2.3026] * 60, 0.005)})
