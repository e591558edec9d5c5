"""How the loss starts."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Severity, Skipped
from traindx.evidence.detectors._number_text import text, times, where
from traindx.evidence.detectors._rise import objective_changes, rise_of
from traindx.testing.sketch import decay, noisy, run

# How many points beside a jump show whether it is one batch, in curves of so many points.
_NEIGHBOURS, _DENSE = 2, 50
_LANGUAGE = frozenset({"hf-trainer", "llamafactory"})


@Detector("Loss starts too high", family="start", guards=("surrogate", "resumed"))
def loss_starts_high(
    case: Case,
    loss: Curve,
    *,
    chance_factor: float = 1.6,
    huge_loss: float = 1e4,
    language_model_loss: float = 13.0,
) -> Detected:
    """The first loss is far above what an untrained model should give.

    An untrained classifier guesses evenly and starts near ln K. Seen when K is known from the settings and
    the loss starts at {chance_factor} times ln K or more; or when the loss starts at an absurd size (over
    {huge_loss}), as it does with targets or inputs that were never scaled.

    Trainers made for language models are also held to the largest vocabularies, whose guesses cost about
    12.4. Could not look when K is not known and the size is ordinary: a regression may start anywhere.
    """
    if not len(loss):
        return Skipped("a training loss")
    first = float(loss.y[0])
    chance = next(iter(case.task.known_chances), None)
    if chance is not None and (case.number("classes") or 0) < 2:
        chance = None
    if chance is not None and first > chance_factor * chance.level and loss.tail < 50:
        text = f"The first loss is {first:.4g}, {first / chance.level:.3g} times chance level ({chance.why})."
        return Finding(text, step=float(loss.x[0]))
    if first > huge_loss:
        text = f"The loss starts at {first:.4g}: inputs or targets of this size want scaling."
        return Finding(text, step=float(loss.x[0]))
    if _LANGUAGE & set(case.run.formats) and first > language_model_loss:
        text = f"The first loss is {first:.4g}; even guesses over the largest vocabularies give about 12.4."
        return Finding(text, step=float(loss.x[0]), strength=0.7)
    return Skipped("the number of classes in the configuration (classes)") if chance is None else None


@Detector("Loss jumps up at the start", family="start_leap", guards=("surrogate",))
def loss_leaps_early(
    loss: Curve, *, leap_factor: float = 3.0, large_factor: float = 10.0, min_points: int = 12
) -> Detected:
    """The loss leaps up in its first steps, far above its first value.

    Looks at the first tenth of the run: seen when the loss rises to {leap_factor} times its first value or
    more before it comes down. Low; medium from {large_factor} times on: the first updates threw the weights
    about, and what follows may never recover from it.

    Silent for a single batch whose neighbours are usual, for the small hump of a warm-up, when the first
    value alone is odd and a score improves all the same, for reinforcement learning and GANs, and for losses
    that may be negative.
    """
    if not loss.y.min() > 0:
        return Skipped("a positive loss that measures progress")
    early = loss.y[: max(4, len(loss) // 10)]
    first, at = float(early[0]), int(early.argmax())
    peak = float(early[at])
    if at == 0 or peak < leap_factor * first or peak - first < 8 * loss.noise:
        return None
    if loss.tail > 0.5 * peak:  # it stays up: loss_diverges tells it
        return None
    around = loss.y[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
    if len(loss) >= _DENSE and float(np.median(around)) < leap_factor * first:  # a single batch
        return None
    severity: Severity = "medium" if peak >= large_factor * first else "low"
    step = float(loss.x[at])
    words = (
        f"The loss jumps from {text(first)} to {text(peak)} by {where(loss, step)}, {times(peak / first)} "
        f"its first value, before it comes down to {text(loss.tail)}."
    )
    return Finding(
        words, "loss_spike", severity, float(loss.x[0]), step, loss.name,
        numbers={"spikes": 1, "spike_step": step, "spike_ratio": peak / first}, marks=(step,),
    )  # fmt: skip


@Detector("Loss jumps to chance level", family="rise_to_chance", guards=("surrogate",))
def loss_jumps_to_chance(
    case: Case,
    loss: Curve,
    *,
    chance_tolerance: float = 0.01,
    best_below: float = 0.95,
    last_share: float = 0.1,
    min_points: int = 6,
) -> Detected:
    """The loss was learning, then jumped to chance level and stays there.

    That is ln K: from one step to the next the model predicts nothing any more. Seen when the loss was
    clearly below such a level, rose, and has been resting within one percent of it.

    Silent for losses that were at chance from the start (loss_at_chance) and for rises to other levels.
    """
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
    levels = [float(np.median(part)) for part in np.array_split(loss.y[-max(6, len(loss) // 5) :], 3)]
    if max(levels) - min(levels) > 0.01 * level:
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


def cases() -> Cases:
    yield from loss_starts_high.fires(run({"loss": decay(50, 8.0, 1.0)}, settings={"classes": 10}))
    yield from loss_starts_high.fires(run({"loss": decay(50, 1e13, 10.0)}))
    yield from loss_starts_high.silent(run({"loss": decay(50, 2.4, 1.0)}, settings={"classes": 10}))
    yield from loss_starts_high.silent(run({"loss": decay(50, 26.0, 5.0)}))
    yield from loss_leaps_early.fires(run({"loss": [4.7, 22.0, 51.0, 30.0, 20.0, *decay(60, 10.0, 2.0)]}))
    yield from loss_leaps_early.silent(run({"loss": [6.9, 8.2, 7.3, 7.1, 6.9, *decay(60, 6.5, 2.0)]}))
    yield from loss_leaps_early.silent(run({"loss": noisy(decay(60, 4.0, 0.5), 0.3)}))
    yield from loss_leaps_early.silent(run({"loss": [1.6, 11.8, 11.6, *[10.4] * 20]}))
    yield from loss_jumps_to_chance.fires(
        run({"loss": noisy([*decay(60, 2.3, 0.5), *[2.3026] * 60], 0.005)}),
        run({"loss": [1.64, 11.8, 11.6, 10.38, 10.3735, 10.3735, 10.3735, 10.3735, 10.3735, 10.3735]}),
    )
    yield from loss_jumps_to_chance.silent(run({"loss": noisy([*decay(60, 2.3, 0.5), *[1.25] * 60], 0.005)}))
    yield from loss_jumps_to_chance.silent(run({"loss": noisy([2.3026] * 60, 0.005)}))
