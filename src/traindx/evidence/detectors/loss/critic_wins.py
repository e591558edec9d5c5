"""The discriminator of a GAN has won: its loss is nothing, the generator's has grown several times.

A discriminator that is always right gives the generator no direction any more: what it draws does not get
better, whatever is trained on. Seen when the discriminator's loss lies below {critic_loss_gone} of its first
level for the last third of the run and the generator's at {generator_growth} times its first level or more;
or below {critic_loss_small} of it and the generator's at {generator_growth_large} times. Good trainings have
both around a third and three to five times at most.

Silent for critics whose loss may be negative (Wasserstein), where a small loss is good; when either side
is not logged; and with fewer than {min_points} values.
Known mistakes: hinge losses of a generator that is also given other terms.
"""

import re

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, times, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Discriminator wins", needs=(), family="adversaries")
_SIDES = {
    "g": re.compile(r"(?:^|[^a-z])(?:g|gen|generator)(?:$|[^a-z])"),
    "d": re.compile(r"(?:^|[^a-z])(?:d|disc|discriminator|critic)(?:$|[^a-z])"),
}


def detect(
    case: Case,
    *,
    critic_loss_gone: float = 0.02,
    generator_growth: float = 3.0,
    critic_loss_small: float = 0.12,
    generator_growth_large: float = 10.0,
    min_points: int = 10,
) -> Detected:
    if "gan" not in case.traits:
        return Skipped()
    critics, generators = (_losses(case, side, min_points) for side in ("d", "g"))
    if not critics or not generators:
        return Skipped(f"at least {min_points} values of the losses of generator and discriminator")
    if any(curve.y.min() < 0 for curve in critics):
        return None
    ends = [_ends(curve) for curve in critics]
    if min(first for first, _, _ in ends) <= 0:
        return None
    # All parts of the discriminator's loss (on real and on fake) must be gone.
    left = max(worst / first for first, _, worst in ends)
    rises = [(curve, float(curve.y[:3].min()), _ends(curve)[1]) for curve in generators]
    curve, before, now = max(rises, key=lambda rise: rise[2] / rise[1] if rise[1] > 0 else 0.0)
    if before <= 0 or not (
        (left <= critic_loss_gone and now >= generator_growth * before)
        or (left <= critic_loss_small and now >= generator_growth_large * before)
    ):
        return None
    critic, (first, last, _) = critics[0], ends[0]
    onset = _since(critic, max(left, critic_loss_gone) * 2 * first)
    return Finding(
        f"{critic.name} falls from {text(first)} to {text(last)} and stays there from {where(critic, onset)} "
        f"on, while {curve.name} grew {times(now / before)}, from {text(before)} to {text(now)}: the "
        "discriminator is always right and the generator gets no direction.",
        "divergence",
        "medium",
        step=onset,
        end=float(critic.x[-1]),
        series=critic.name,
        numbers={"critic_last": last, "generator_grown": now / before},
        marks=(onset,),
    )


def _losses(case: Case, side: str, points: int) -> list[Curve]:
    """The losses of one side, longest first."""
    found = []
    for name in case.names:
        told = name.lower().removeprefix("loss/")
        if name.startswith("loss") and len(case.run.series[name]) >= points and _SIDES[side].search(told):
            curve = case.curve(name)
            if curve is not None and len(curve) >= points:
                found.append(curve)
    return sorted(found, key=lambda curve: -len(curve))


def _ends(curve: Curve) -> tuple[float, float, float]:
    """The highest of the first values, and the middle and the upper end of the last third."""
    last = curve.y[-(len(curve) // 3) :]
    first = float(curve.y[: max(1, min(3, len(curve) // 10))].max())
    return first, float(np.median(last)), float(np.quantile(last, 0.9))


def _since(curve: Curve, level: float) -> float:
    above = np.flatnonzero(curve.y > level)
    at = int(above[-1]) + 1 if above.size else 0
    return float(curve.x[min(at, len(curve) - 1)])


def fires() -> Runs:
    wins = {"loss/d": decay(40, 1.4, 0.0, rate=60), "loss/g": 20.0 - decay(40, 19.3, 0.0, rate=20)}
    yield run(wins, traits=("gan",))
    nearly = {"loss/d": noisy([1.4, *[0.09] * 60], 0.1), "loss/g": noisy([0.7, *[16.0] * 60], 0.1)}
    yield run(nearly, traits=("gan",))


def silent() -> Runs:
    yield run({"loss/d": noisy([1.3] * 60, 0.1), "loss/g": noisy([0.8] * 60, 0.2)}, traits=("gan",))
    usual = {"loss/d": noisy([1.4, *[0.3] * 60], 0.3), "loss/g": noisy([0.7, *[4.0] * 60], 0.3)}
    yield run(usual, traits=("gan",))
    yield run({"loss/d": noisy([0.4] * 60, 0.1), "loss/g": np.linspace(0.7, 4.0, 60)}, traits=("gan",))
    wasserstein = {"loss/d": np.linspace(-8.0, -0.1, 60), "loss/g": np.linspace(1.0, 9.0, 60)}
    yield run(wasserstein, traits=("gan",))
    yield run({"loss/d": [0.0] * 60, "loss/cls": [1.0] * 60})
