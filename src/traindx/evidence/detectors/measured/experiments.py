"""What an experiment on the untrained model measured."""

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped, facts, number
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import measured


@Detector("One batch cannot be fitted", needs=("fact:overfit",), family="fit")
def batch_not_fitted(run: Run, *, left_share: float = 0.6, min_steps: int = 100) -> Detected:
    """A copy of the model cannot fit a single batch.

    Trained on one batch and nothing else, a sound model drives its loss towards zero. Seen when {min_steps}
    steps of Adam leave {left_share:%} of the first loss or more: gradients, loss, labels or architecture are
    at fault. A sign where the labels of the batch may be pure noise of a regression.
    """
    fact = run.facts["overfit"]
    before, after, steps = (number(fact, key) for key in ("before", "after", "steps"))
    if not before or after is None or steps is None or before <= 0:
        return Skipped("a positive loss of one batch")
    if steps < min_steps or after < left_share * before:
        return None
    return Finding(
        text=f"A copy of the model does not fit one batch: {steps:.0f} steps on nothing else leave "
        f"{percent(after / before)} of its loss ({before:.4g} to {after:.4g}).",
        symptom="not_learning",
        severity="high",
        numbers={"left_share": after / before, "steps": steps},
    )


@Detector("Loss above chance", needs=("fact:loss_check",), family="start")
def loss_above_chance(run: Run, *, chance_factor: float = 1.6) -> Detected:
    """The loss of a model on its data is far above that of guessing.

    An untrained classifier guesses evenly and gives ln K; a trained one gives less. Seen when the mean loss
    over the batches is {chance_factor} times ln K or more: the outputs are confident and wrong, as badly
    scaled weights or inputs, shifted labels or a wrong loss make them. Not checked where the loss is no
    cross-entropy of classes.
    """
    fact = run.facts["loss_check"]
    loss, chance = number(fact, "loss"), number(fact, "chance")
    if loss is None or not chance:
        return Skipped("a cross-entropy of classes")
    if loss < chance_factor * chance:
        return None
    return Finding(
        text=f"The loss is {loss:.4g}, {loss / chance:.3g} times that of guessing among "
        f"{fact['classes']} classes ({chance:.3g}).",
        symptom="not_learning",
        numbers={"loss": loss, "chance": chance},
    )


@Detector("Parameters without gradient", needs=("fact:gradients",), family="untrained")
def parameters_unreached(run: Run, *, min_parameters: int = 1) -> Detected:
    """No gradient reaches some parameters of a model.

    Backward passes over a few batches gave {min_parameters} or more parameters no gradient at all: they are
    not used, or are cut off from the loss by `detach()`, `no_grad()` or an operation without a gradient.
    Silent about parameters that need no gradient (frozen ones).
    """
    rows = facts(run.facts["gradients"])
    lost = [str(row["name"]) for row in rows if row.get("reached") is False]
    if len(lost) < min_parameters:
        return None
    return Finding(
        text=f"No gradient reaches {len(lost)} of {len(rows)} parameters: {', '.join(lost[:3])}.",
        symptom="silent_defect",
        severity="high",
        numbers={"parameters": len(lost), "parameters_all": len(rows)},
        places=tuple(Place(layer=name.rpartition(".")[0]) for name in lost[:3]),
    )


@Detector("Weights not loaded", needs=("fact:loading",), family="untrained")
def weights_not_loaded(run: Run, *, min_tensors: int = 1) -> Detected:
    """Tensors of a model are not in its checkpoint, or have another shape there.

    Compares the names and shapes of a model with those of the file it was loaded from. What the file lacks
    stays as initialisation left it: the model answers with random layers. Tensors of the file that the model
    does not have are worth knowing: they were trained and are not used. Silent about running counters.
    """
    loading = run.facts["loading"]
    missing = [str(key) for key in loading.get("missing", ()) if not str(key).endswith("num_batches_tracked")]
    reshaped = [str(key) for key in loading.get("other_shape", ())]
    unused = [str(key) for key in loading.get("unexpected", ())]
    parts = [
        f"{len(names)} {words} ({', '.join(names[:3])})"
        for names, words in (
            (missing, "are not in the checkpoint"),
            (reshaped, "have another shape there"),
            (unused, "are in the checkpoint alone"),
        )
        if names
    ]
    if len(missing) + len(reshaped) + len(unused) < min_tensors:
        return None
    lost = bool(missing or reshaped)
    return Finding(
        text=f"{loading['loaded']} of {loading['tensors']} tensors of the model were loaded: "
        f"{'; '.join(parts)}." + (" What was not loaded is as initialised." if lost else ""),
        symptom="silent_defect" if lost else None,
        severity="high",
        numbers={"missing": len(missing), "other_shape": len(reshaped), "unexpected": len(unused)},
        places=tuple(Place(layer=name.split(" ")[0].rpartition(".")[0]) for name in (missing + reshaped)[:3]),
    )


def cases() -> Cases:
    yield from batch_not_fitted.fires(measured(overfit={"before": 2.3, "after": 2.2, "steps": 150}))
    yield from batch_not_fitted.silent(
        measured(overfit={"before": 2.3, "after": 0.1, "steps": 150}),
        measured(overfit={"before": 2.3, "after": 0.04, "steps": 20}),
    )
    ten = {"chance": 2.3, "classes": 10}
    yield from loss_above_chance.fires(measured(loss_check={"loss": 9.0, **ten}))
    yield from loss_above_chance.silent(*(measured(loss_check={"loss": loss, **ten}) for loss in (2.4, 0.3)))
    reached, lost = ({"name": f"{at}.weight", "reached": not at} for at in (0, 1))
    yield from parameters_unreached.fires(measured(gradients=[reached, lost]))
    yield from parameters_unreached.silent(measured(gradients=[reached] * 2), measured(gradients=[reached]))
    yield from weights_not_loaded.fires(
        _loading(missing=["head.weight", "head.bias"]),
        _loading(other_shape=["head.weight (10, 64), stored (3, 64)"]),
        _loading(unexpected=["fc.weight"]),
    )
    yield from weights_not_loaded.silent(_loading(), _loading(missing=["bn.num_batches_tracked"]))


def _loading(**fit: list[str]) -> Run:
    return measured(loading={"loaded": 4, "tensors": 6, **fit})
