"""What an optimizer keeps of the past steps."""

from math import sqrt
from typing import Any

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Run, Skipped, facts
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._weights import checkpoint, moment_rows, parameter_names


@Detector("Optimizer moments broken", needs=("fact:optimizer_state",), family="nonfinite")
def moments_broken(run: Run, *, min_values: int = 1) -> Detected:
    """The moments of an optimizer in a checkpoint are NaN, Inf or negative where they are squares.

    One such moment makes the next step NaN for its parameter, and from there for the whole model: the
    training cannot be resumed from this file. Silent about a checkpoint without an optimizer's state.
    """
    rows = moment_rows(run)
    broken = [row for row in rows if row["nonfinite"] >= min_values]
    negative = [row for row in rows if "sq" in row["name"].partition("/")[0] and (row["min"] or 0) < 0]
    if not broken and not negative:
        return None
    worst = (broken or negative)[0]
    fault = "NaN or Inf" if broken else "negative squares"
    return Finding(
        text=f"{len(broken or negative)} of {len(rows)} tensors of the optimizer's state hold {fault}, first "
        f"{worst['name']}: the next step makes weights NaN.",
        symptom="nonfinite",
        severity="critical",
        numbers={"tensors": len(broken or negative), "tensors_all": len(rows)},
    )


def _state(**row: object) -> list[dict[str, object]]:
    healthy = {"name": "exp_avg_sq/0", "size": 64, "nonfinite": 0, "min": 0.0, "max": 1e-4, "zero_share": 0.0}
    return [{"groups": [{"lr": 1e-3}], "steps": [100, 100], "parameters": 1, "rows": [{**healthy, **row}]}]


@Detector("Optimizer moments zero", needs=("fact:optimizer_state",), family="untrained")
def moments_zero(run: Run, *, min_steps: int = 5) -> Detected:
    """Adam's second moments of some parameters are exactly zero after steps were taken.

    The second moment is an average of squared gradients: exactly 0 after {min_steps} steps means that every
    gradient of the parameter was 0. It is cut off from the loss, or its units are dead. Silent about moments
    that are partly zero (rare words of an embedding) and about other optimizers.
    """
    squares = [row for row in moment_rows(run) if row["name"].startswith("exp_avg_sq/") and row["size"] > 1]
    if not squares:
        return Skipped("second moments of Adam")
    if max((row["steps"] for row in squares), default=0) < min_steps:
        return None
    zero = [row for row in squares if row["zero_share"] >= 1]
    if not zero:
        return None
    names = ", ".join(row["name"].partition("/")[2] for row in zero[:5])
    return Finding(
        text=f"The gradients of {len(zero)} of {len(squares)} parameters were 0 in all "
        f"{zero[0]['steps']:,.0f} steps: Adam's second moments of parameters {names} are exactly 0.",
        symptom="silent_defect",
        severity="high",
        numbers={"parameters": len(zero), "parameters_all": len(squares)},
    )


def _state_moments_zero(steps: int, zeros: float) -> list[dict[str, object]]:
    rows = [
        {"name": f"exp_avg_sq/{at}", "size": 64, "nonfinite": 0, "min": 0.0, "zero_share": share}
        for at, share in enumerate((0.0, zeros))
    ]
    return [{"groups": [{"lr": 1e-3}], "steps": [steps, steps], "parameters": 2, "rows": rows}]


@Detector("Optimizer moments out of proportion", needs=("fact:optimizer_state",), family="resume")
def moments_out_of_proportion(
    run: Run,
    *,
    min_steps: int = 20,
    max_quotient: float = 1e-3,
    times_others: float = 1e3,
    min_gradient: float = 1e-2,
) -> Detected:
    """Adam's second moments of some parameters are far too large for the gradients that still arrive.

    Adam divides its first moment by the root of the second. Seen when gradients arrive at a parameter as
    they do at the others, but that quotient is below {max_quotient} (usually 0.05 to 1), while the mean
    second moment is {times_others} times that of every other parameter or more: its steps are next to
    nothing for thousands of steps. The file was damaged, edited or put together from two, or one gradient
    was enormous.

    Silent about fresh optimizers (fewer than {min_steps} steps), parameters whose gradients have stopped
    (frozen or dead ones, rows of an embedding) and layers whose gradients are merely larger. Needs the
    moments of two parameters or more.
    """
    measured = False
    for state in facts(run.facts.get("optimizer_state")):
        quotients = _quotients(facts(state.get("rows")))
        if len(quotients) < 2:
            continue
        measured = True
        usual = {key: m for key, m in quotients.items() if m["quotient"] > 10 * max_quotient}
        if not usual or max(state.get("steps") or [0]) < min_steps:
            continue
        largest = max(m["second"] for m in usual.values())
        gradient = sorted(m["first"] for m in usual.values())[len(usual) // 2]
        stuck = {
            key: m
            for key, m in quotients.items()
            if m["quotient"] < max_quotient
            and m["second"] >= times_others * largest
            and m["first"] >= min_gradient * gradient
        }
        if stuck:
            return _finding(run, state, stuck, len(quotients), largest)
    return None if measured else Skipped("first and second moments of Adam")


def _quotients(rows: Any) -> dict[str, dict[str, float]]:
    """For each parameter the root mean square of its first moments, the mean second one, and the quotient."""
    by_name = {row["name"]: row for row in rows if row["size"] and not row["nonfinite"] and "mean" in row}
    quotients = {}
    for name, row in by_name.items():
        kind, _, parameter = name.partition("/")
        first = by_name.get(f"exp_avg/{parameter}")
        if kind != "exp_avg_sq" or first is None or row["mean"] <= 0:
            continue
        size = first["norm"] / sqrt(first["size"])
        quotients[parameter] = {"first": size, "second": row["mean"], "quotient": size / sqrt(row["mean"])}
    return quotients


def _finding(run: Run, state: Any, stuck: dict[str, dict[str, float]], count: int, largest: float) -> Finding:
    names = parameter_names(run, state)
    worst = min(stuck, key=lambda key: stuck[key]["quotient"])
    listed = ", ".join(names.get(key, f"parameter {key}") for key in list(stuck)[:5])
    suffix = f" and {len(stuck) - 5} more" if len(stuck) > 5 else ""
    row = stuck[worst]
    return Finding(
        text=f"Adam's second moments of {len(stuck)} of {count} parameters ({listed}{suffix}) are out of "
        f"proportion: {text(row['second'])} on average in {names.get(worst, f'parameter {worst}')}, at most "
        f"{text(largest)} in the others, while its first moments are {text(row['first'])}. Steps are "
        f"{text(row['quotient'])} of the learning rate there: these parameters hardly move. Delete their "
        "state from the optimizer's (or start it anew) before resuming.",
        symptom="silent_defect",
        severity="high",
        numbers={
            "parameters": len(stuck),
            "parameters_all": count,
            "second_moment": row["second"],
            "others": largest,
            "quotient": row["quotient"],
        },
    )


def _state_moments_out_of_proportion(*moments: tuple[float, float], steps: int = 400) -> dict[str, Any]:
    """Facts of parameters with these first and second moments."""
    rows = []
    for at, (first, second) in enumerate(moments):
        row = {"size": 64, "shape": [64], "nonfinite": 0, "min": 0.0, "zero_share": 0.0}
        rows.append({**row, "name": f"exp_avg/{at}", "mean": 0.0, "norm": 8 * first})
        rows.append({**row, "name": f"exp_avg_sq/{at}", "mean": second, "norm": 8 * second})
    return {"groups": [{"lr": 1e-3}], "steps": [steps, steps], "parameters": len(moments), "rows": rows}


def cases() -> Cases:
    yield from moments_broken.fires(checkpoint({"a.weight": {}}, optimizer_state=_state(nonfinite=2)))
    yield from moments_broken.fires(checkpoint({"a.weight": {}}, optimizer_state=_state(min=-1.0)))
    yield from moments_broken.silent(checkpoint({"a.weight": {}}, optimizer_state=_state()))
    yield from moments_broken.silent(checkpoint({"a.weight": {}}, optimizer_state=_state(zero_share=0.5)))
    yield from moments_zero.fires(checkpoint({"a.weight": {}}, optimizer_state=_state_moments_zero(100, 1.0)))
    yield from moments_zero.silent(
        checkpoint({"a.weight": {}}, optimizer_state=_state_moments_zero(100, 0.9))
    )
    yield from moments_zero.silent(checkpoint({"a.weight": {}}, optimizer_state=_state_moments_zero(1, 1.0)))
    yield from moments_out_of_proportion.fires(
        checkpoint({}, optimizer_state=[_state_moments_out_of_proportion((1e-3, 4.5e4), (2e-3, 5e-5))]),
        checkpoint(
            {},
            optimizer_state=[_state_moments_out_of_proportion((1e-3, 10.0), (2e-3, 5e-5), (1e-3, 1e-5))],
        ),
    )
    yield from moments_out_of_proportion.silent(
        checkpoint({}, optimizer_state=[_state_moments_out_of_proportion((1e-3, 1e-5), (2e-1, 0.5))]),
        checkpoint(
            {}, optimizer_state=[_state_moments_out_of_proportion((1e-3, 4.5e4), (2e-3, 5e-5), steps=3)]
        ),
    )
    # gradients have stopped: frozen or dead
    yield from moments_out_of_proportion.silent(
        checkpoint({}, optimizer_state=[_state_moments_out_of_proportion((1e-9, 1e-3), (2e-3, 5e-5))]),
        checkpoint({}, optimizer_state=[_state_moments_out_of_proportion((0.0, 10.0), (2e-3, 5e-5))]),
    )
    # one larger gradient long ago
    yield from moments_out_of_proportion.silent(
        checkpoint({}, optimizer_state=[_state_moments_out_of_proportion((1e-3, 1e-2), (2e-3, 5e-5))])
    )
