"""The inside of a recorded training in a few sentences: where the time goes, which layers stand out."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.core.nouns import Diagnosis
from traindx.evidence.case import Case
from traindx.report.grids import defects, grid, layer_names, matrix_levels, most_at_the_end
from traindx.report.measured import case_of
from traindx.report.text import count, percent, short
from traindx.report.times import PARTS, spent, time_sentence
from traindx.report.titles import cause_title

_WAITS = 0.5
_APART = 1e4
_DEAD = 0.5
_ABOUT_TIME = frozenset({"slow_training"})
_ABOUT_LAYERS = frozenset({"vanishing_gradients", "exploding_gradients", "dead_units", "saturated_units"})


def inside_sentences(diagnosis: Diagnosis, *, everything: bool) -> list[tuple[str, str]]:
    """Labels with their sentences; only what stands out, unless `everything`."""
    case = case_of(diagnosis.run)
    symptoms = {symptom for problem in diagnosis.problems for symptom in (problem.symptom, *problem.also)}
    return [
        *_confirmed(diagnosis),
        *_time(case, everything or bool(symptoms & _ABOUT_TIME)),
        *_gradients(case, everything or bool(symptoms & _ABOUT_LAYERS)),
        *_dead(case, everything or "dead_units" in symptoms),
    ]


def _confirmed(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """What `traindx confirm --save` has left with the recording."""
    saved = diagnosis.run.facts.get("confirmed")
    if not isinstance(saved, dict) or not isinstance(cause := saved.get("cause"), str):
        return
    share, number = saved.get("confidence"), saved.get("experiments")
    sure = f" ({percent(share)})" if isinstance(share, float) else ""
    experiments = count(number, "experiment") if isinstance(number, int) else "experiments"
    yield (
        "confirmed",
        f"after {experiments} on this script: {cause_title(cause)}{sure}.",
    )


def _time(case: Case, everything: bool) -> Iterator[tuple[str, str]]:
    times = spent(case)
    if times is not None and (everything or times.share(PARTS["data_wait_s"]) >= _WAITS):
        yield "time", f"{time_sentence(times)}."


def _gradients(case: Case, everything: bool) -> Iterator[tuple[str, str]]:
    """The layers with the least and the most gradient; those that never got any, or a broken one."""
    norms = grid(case, "grad_norm")
    if norms is None:
        return
    names = [f"layer {name}" for name in layer_names(norms.layers)]
    places, levels = matrix_levels(case, norms)
    parts = []
    if places.size > 1:
        low, high = int(levels.argmin()), int(levels.argmax())
        if everything or levels[high] > _APART * levels[low]:
            least, largest = (f"{short(float(levels[at]))} at {names[places[at]]}" for at in (low, high))
            parts.append(f"gradient norm from {least} to {largest}, of {count(len(names), 'layer')}")
    parts += defects(norms, names, "exactly 0 in every sample")
    if parts:
        yield "layers", "; ".join(parts) + "."


def _dead(case: Case, everything: bool) -> Iterator[tuple[str, str]]:
    worst = most_at_the_end(case, "activation_dead_share")
    if worst is None:
        return
    layer, share, _ = worst
    if share >= _DEAD or (everything and share > 0):
        yield "units", f"{100 * share:.0f} % of {layer} are dead at the last sample, the most of any."
