"""The state that a checkpoint keeps beside the weights."""

from collections.abc import Sequence

from traindx.evidence.detector import Cases, Detected, Detector, Fact, Finding, Place, Run, Skipped, facts
from traindx.evidence.detectors._weights import (
    anything_moved,
    checkpoint,
    has_moved,
    progress,
    rows_of,
    trained_rows,
)


@Detector("Running statistics never updated", needs=("fact:weights",), family="norm_statistics")
def norm_statistics_unused(run: Run, *, min_layers: int = 1) -> Detected:
    """The running statistics of batch normalisation are still those it starts with.

    A mean of 0 and a variance of 1 throughout in a layer that was trained, as its scales and shifts show, or
    the counters of the checkpoint: the layers never saw a training batch in training mode, or their
    statistics were not restored. In evaluation the model then normalises by numbers that have nothing to do
    with its data. Silent about layers that keep no running statistics, and about those that nothing shows to
    be trained.
    """
    rows = {row["name"]: row for row in rows_of(run)}
    means = [row for row in rows.values() if row["kind"] == "norm_mean" and row["size"] > 1]
    if len(means) < min_layers:
        return Skipped("running statistics of batch normalisation")
    variances = {row["layer"]: row for row in rows.values() if row["kind"] == "norm_variance"}
    unused = [
        row
        for row in means
        if row["zero_share"] >= 1
        and (variance := variances.get(row["layer"]))
        and variance["min"] == variance["max"] == 1
    ]
    unused = [row for row in unused if progress(run) >= 1 or _trained(run, row["layer"])]
    if not unused:
        return None
    return Finding(
        text=f"The running mean and variance of {len(unused)} of {len(means)} batch normalisations are still "
        f"0 and 1, as at the start: {', '.join(row['layer'] for row in unused[:3])}.",
        symptom="silent_defect",
        severity="high",
        numbers={"layers": len(unused), "layers_all": len(means)},
        places=tuple(Place(layer=row["layer"]) for row in unused[:3]),
    )


def _trained(run: Run, layer: str) -> bool:
    """Whether its own scales and shifts have moved; of a layer without any, those of the others."""
    own = [has_moved(row) for row in rows_of(run) if row["layer"] == layer]
    movements = [moved for moved in own if moved is not None]
    return any(movements) if movements else bool(anything_moved(run))


def _norm(mean_zeros: float) -> dict[str, dict[str, object]]:
    return {
        "bn.running_mean": {"kind": "norm_mean", "size": 64, "zero_share": mean_zeros},
        "bn.running_var": {"kind": "norm_variance", "size": 64, "min": 1.0, "max": 1.0},
    }


@Detector("State for resuming missing", needs=("fact:checkpoint",), family="resume")
def resume_state_missing(run: Run, *, min_progress: float = 1.0, max_apart: float = 10.0) -> Detected:
    """A checkpoint of a training lacks what a resumed training needs.

    A checkpoint that holds a schedule, a scaler or random states is meant for resuming. Without the
    optimizer's state, or with an empty one after steps were taken, the first steps after the resume have
    full size whatever the gradient. With an optimizer whose groups were set by a schedule, but without that
    schedule's state, the learning rate starts again: that is worth knowing, since some scripts rebuild it
    from the epoch. Parameters whose step counters are {max_apart} times apart, moments of another
    parameter's shape and a learning rate of 0 are of the same kind. Silent about weights alone: those are
    made for use, not for resuming.
    """
    checkpoint = run.facts["checkpoint"]
    parts, counters = set(checkpoint.get("parts", ())), checkpoint.get("counters") or {}
    if "training" not in parts:
        return Skipped("a checkpoint of a training: epoch, optimizer, schedule")
    begun = max(counters.values(), default=0.0) >= min_progress
    states = facts(run.facts.get("optimizer_state"))
    at = ", ".join(f"{name} {value:g}" for name, value in counters.items()) or f"{len(parts)} parts"
    if not states and parts & {"scheduler", "scaler", "random"}:
        return _finding(f"holds a training's state ({at}) but no optimizer", "medium")
    if states and begun and not any(state.get("rows") for state in states) and _keeps_state(states):
        return _finding(f"is of {at}, and its optimizer's state is empty", "medium")
    apart = next(
        (state["steps"] for state in states if state.get("steps") and _apart(state["steps"], max_apart)), None
    )
    if apart is not None:
        return _finding(f"has parameters at step {apart[0]:g} and others at step {apart[1]:g}", "medium")
    swapped = _swapped(run, states)
    if swapped:
        return _finding(f"has moments of the shape of another parameter than theirs ({swapped})", "medium")
    if begun and any(group.get("lr") == 0 for state in states for group in state.get("groups", ())):
        return _finding(f"is of {at}, and its learning rate is 0: nothing moves any more", "low")
    scheduled = any("initial_lr" in group for state in states for group in state.get("groups", ()))
    if begun and scheduled and "scheduler" not in parts:
        return Finding(f"The checkpoint of {at} holds an optimizer that a schedule drives, and no schedule.")
    return None


def _apart(steps: Sequence[float], factor: float) -> bool:
    return min(steps) > 0 and max(steps) > factor * min(steps)


def _swapped(run: Run, states: Sequence[Fact]) -> str:
    """The first moment whose shape is not its parameter's, where all but a few in order have theirs."""
    shapes = [row["shape"] for row in trained_rows(run)]
    for state in states:
        moments = {
            int(name): row["shape"]
            for row in facts(state.get("rows"))
            if (name := str(row["name"]).removeprefix("exp_avg/")).isdigit()
        }
        ordered = [moments[at] for at in sorted(moments)]
        if (
            len(state.get("groups", ())) != 1
            or len(ordered) != len(shapes)
            or sorted(ordered) != sorted(shapes)
        ):
            continue
        wrong = [at for at, (shape, own) in enumerate(zip(ordered, shapes, strict=True)) if shape != own]
        if wrong and len(wrong) <= max(2, len(shapes) // 4):
            return f"parameter {wrong[0]}: {ordered[wrong[0]]} for {shapes[wrong[0]]}"
    return ""


def _keeps_state(states: object) -> bool:
    """Whether an optimizer has anything to keep: plain SGD has not."""
    groups = [group for state in facts(states) for group in state.get("groups", ())]
    return any("betas" in group or "beta1" in group or group.get("momentum") for group in groups)


def _finding(fault: str, severity: str) -> Finding:
    return Finding(
        text=f"The checkpoint {fault}: a resumed training would not continue where this one stopped.",
        symptom="silent_defect",
        severity="medium" if severity == "medium" else "low",
    )


def cases() -> Cases:
    moved: dict[str, object] = {"kind": "bias", "moved": True}
    yield from norm_statistics_unused.fires(
        checkpoint({"a.bias": moved, **_norm(1.0)}),
        checkpoint({"a.weight": {}, **_norm(1.0)}, checkpoint={"counters": {"epoch": 3}}),
    )
    yield from norm_statistics_unused.silent(checkpoint({"a.weight": {}, **_norm(0.0)}))
    still: dict[str, object] = {"kind": "norm", "min": 1.0, "max": 1.0}
    yield from norm_statistics_unused.silent(checkpoint({"a.weight": {}, "bn.weight": still, **_norm(1.0)}))
    parts = ["model", "scheduler", "training"]
    yield from resume_state_missing.fires(
        checkpoint({"a.weight": {}}, checkpoint={"parts": parts, "counters": {"epoch": 3.0}})
    )
    states = [{"groups": [{"lr": 0.1, "betas": True}], "rows": []}]
    empty = {"parts": ["model", "optimizer", "training"], "counters": {"epoch": 3.0}}
    yield from resume_state_missing.fires(
        checkpoint({"a.weight": {}}, checkpoint=empty, optimizer_state=states)
    )
    yield from resume_state_missing.silent(checkpoint({"a.weight": {}}, checkpoint={"parts": ["model"]}))
    whole = {"parts": ["model", "optimizer", "training"], "counters": {"epoch": 3.0}}
    momentum = [{"groups": [{"lr": 0.1}], "rows": [{"name": "momentum_buffer/0"}]}]
    yield from resume_state_missing.silent(
        checkpoint({"a.weight": {}}, checkpoint=whole, optimizer_state=momentum)
    )
