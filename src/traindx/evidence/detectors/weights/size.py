"""How large the weights of a checkpoint are, and how far they moved."""

import numpy as np

from traindx.core.facts import facts, number
from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._weights import anything_moved, checkpoint, matrices_of, progress, rows_of

_FITS = {"testable": True, "initial": "uniform, Glorot"}


@Detector("Weights collapsed", needs=("fact:weights",), family="weight_size")
def weights_collapsed(run: Run, *, gain_low: float = 0.01, gain_low_if_normalised: float = 1e-4) -> Detected:
    """Weights of a checkpoint have shrunk to almost nothing.

    The gain of a layer (root mean square of its weights times the root of its inputs) is 0.3 to 1.5 at
    initialisation. Seen when it is {gain_low} or less: the layer passes on next to nothing of its input, as
    too much weight decay leaves it. Silent about weights that are exactly zero, which is another finding,
    about layers that a normalisation follows and whose scale is therefore free down to
    {gain_low_if_normalised}, and about adapters.
    """
    rows = [row for row in matrices_of(run, embeddings=False) if row["zero_share"] < 1]
    if not rows:
        return Skipped("a weight matrix that is not zero")
    normalised = any(row["kind"] == "norm" for row in rows_of(run))
    least = gain_low_if_normalised if normalised else gain_low
    small = [row for row in rows if row["gain"] <= least and "lora" not in row["name"].lower()]
    if not small:
        return None
    worst = min(small, key=lambda row: row["gain"])
    return Finding(
        text=f"The weights of {worst['name']} have shrunk to almost nothing: a gain of {text(worst['gain'])} "
        f"where initialisation gives about 1; {len(small)} of {len(rows)} layers are like it.",
        symptom="underfitting",
        strength=strength(least / max(worst["gain"], 1e-30), 1.0, 100.0),
        numbers={"gain": worst["gain"], "layers": len(small)},
        places=tuple(Place(layer=row["layer"]) for row in small[:3]),
    )


@Detector("Weights exploded", needs=("fact:weights",), family="weight_size")
def weights_exploded(run: Run, *, gain_high: float = 30.0, scale_high: float = 300.0) -> Detected:
    """Weights of a checkpoint are far larger than any initialisation or training leaves them.

    The gain of a layer is the root mean square of its weights times the root of its inputs: initialisations
    give 0.3 to 1.5, and trained layers mostly stay below 5. Seen when a layer's gain is {gain_high} or more,
    or when one of a normalisation's scales is above {scale_high}. Silent about embeddings, whose scale is
    free.
    """
    rows = matrices_of(run, embeddings=False)
    if not rows:
        return Skipped("a weight matrix")
    sizes = {row["name"]: row["gain"] / gain_high for row in rows}
    norms = [row for row in rows_of(run) if row["kind"] == "norm"]
    sizes |= {row["name"]: max(abs(row["min"] or 0), abs(row["max"] or 0)) / scale_high for row in norms}
    large = sorted((name for name, size in sizes.items() if size >= 1), key=lambda name: -sizes[name])
    if not large:
        return None
    worst = next(row for row in rows_of(run) if row["name"] == large[0])
    measured = (
        f"its gain is {text(worst['gain'])} where initialisation gives about 1"
        if "gain" in worst and worst["kind"] != "norm"
        else f"its scales reach {text(sizes[large[0]] * scale_high)} where 1 is usual"
    )
    return Finding(
        text=f"The weights of {large[0]} are far too large: {measured}; {len(large)} of {len(sizes)} tensors "
        "are like it.",
        symptom="divergence",
        severity="high",
        strength=strength(sizes[large[0]], 1.0, 10.0),
        numbers={"times_limit": sizes[large[0]], "tensors": len(large)},
        places=(Place(layer=worst["layer"]),),
    )


@Detector("Weights ran away", needs=("fact:moved",), family="weight_size")
def weights_ran_away(run: Run, *, growth_factor: float = 10.0, min_norm: float = 0.05) -> Detected:
    """Weights grew many times over between two checkpoints.

    Compares the norms of the weight matrices of the first and the last checkpoint. Seen when the typical
    layer, or any layer that did not start next to zero, has grown {growth_factor} times: trainings that go
    well rarely grow beyond three times. Silent about matrices whose first norm is below {min_norm}.
    """
    growth = {
        str(row["name"]): after / before
        for row in facts(run.facts.get("moved"))
        if row.get("matrix")
        and (before := number(row, "norm_before")) is not None
        and (after := number(row, "norm_after")) is not None
        and before >= min_norm
    }
    if not growth:
        return Skipped("two checkpoints with weight matrices in common")
    worst = max(growth, key=lambda name: growth[name])
    if growth[worst] < growth_factor:
        return None
    return Finding(
        text=f"The weights of {worst} grew {times(growth[worst])} between the first and the last checkpoint; "
        f"the typical one of {len(growth)} matrices grew {times(float(np.median(list(growth.values()))))}.",
        symptom="divergence",
        severity="high",
        strength=strength(growth[worst], growth_factor, 10 * growth_factor),
        numbers={"weight_growth": growth[worst]},
        places=(Place(layer=worst.rpartition(".")[0]),),
    )


def _moved(after: float, before: float = 1.0) -> list[dict[str, object]]:
    return [{"name": "0.weight", "matrix": True, "norm_before": before, "norm_after": after, "equal": False}]


@Detector("Weights as initialised", needs=("fact:weights",), family="untrained")
def weights_as_initialised(run: Run, *, min_layers: int = 1) -> Detected:
    """Layers are distributed exactly as initialisation leaves them, while others were trained.

    A uniform initialisation ends at its bound: after training some weights are outside of it. A normal one
    has a known spread, which training changes. The test asks that all values of a layer fit the
    initialisation of its kind (PyTorch's default, Glorot, He, spread 0.02, orthogonal) in bound, spread and
    shape, its bias too, and takes layers of 100 values (uniform) or 40,000 (normal) and more.

    Seen when layers that fit are in a model that was trained, as its biases and its normalisations show;
    where those show nothing, a checkpoint whose own counters speak of training is a problem, and any other
    is a model that nobody trained yet, which is worth knowing. Known mistakes: layers frozen at random on
    purpose; a training of very few steps at a tiny learning rate.
    """
    rows = [row for row in matrices_of(run, embeddings=False) if row.get("testable")]
    if len(rows) < min_layers:
        return Skipped("weight matrices that are large enough to compare with their initialisation")
    fit = [row for row in rows if row["initial"]]
    if not fit:
        return None
    witnesses = anything_moved(run)
    moved = len(fit) < len(rows) if witnesses is None else witnesses
    names = ", ".join(row["name"] for row in fit[:3])
    sentence = (
        f"{len(fit)} of {len(rows)} weight matrices are as initialisation leaves them ({fit[0]['initial']}): "
        f"{names}; the rest of the model was trained."
        if moved
        else f"{len(fit)} of {len(rows)} weight matrices that can be compared are as initialisation leaves "
        f"them ({fit[0]['initial']}), and nothing shows that the others moved: nothing was trained or loaded."
    )
    if not moved and progress(run) < 1:
        return Finding(text=sentence, numbers={"layers": len(fit), "layers_all": len(rows)})
    return Finding(
        text=sentence,
        symptom="silent_defect" if moved else "not_learning",
        numbers={"layers": len(fit), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in fit[:3]),
    )


def cases() -> Cases:
    yield from weights_collapsed.fires(checkpoint({"a.weight": {"gain": 1e-4}, "b.weight": {}}))
    yield from weights_collapsed.silent(checkpoint({"a.weight": {"gain": 0.1}, "b.weight": {}}))
    norm = {"kind": "norm", "size": 64}
    yield from weights_collapsed.silent(checkpoint({"a.weight": {"gain": 1e-3}, "n.weight": norm}))
    yield from weights_exploded.fires(checkpoint({"a.weight": {"gain": 400.0}, "b.weight": {}}))
    yield from weights_exploded.silent(
        checkpoint({"a.weight": {"gain": 6.0}, "b.weight": {}}),
        checkpoint({"wte.weight": {"kind": "embedding", "gain": 400.0}, "b.weight": {}}),
    )
    yield from weights_ran_away.fires(checkpoint({"0.weight": {}}, moved=_moved(50.0)))
    yield from weights_ran_away.silent(checkpoint({"0.weight": {}}, moved=_moved(3.0)))
    yield from weights_ran_away.silent(checkpoint({"0.weight": {}}, moved=_moved(1.0, 1e-3)))
    yield from weights_as_initialised.fires(checkpoint({"a.weight": _FITS, "b.weight": {"testable": True}}))
    yield from weights_as_initialised.fires(checkpoint({"a.weight": _FITS, "b.weight": _FITS}))
    begun = {"counters": {"epoch": 3}}
    yield from weights_as_initialised.fires(
        checkpoint({"a.weight": _FITS, "b.weight": _FITS}, checkpoint=begun)
    )
    yield from weights_as_initialised.silent(
        checkpoint({"a.weight": {"testable": True}, "b.weight": {"testable": True}}),
        checkpoint({"a.weight": {}, "b.weight": {}}),
    )
