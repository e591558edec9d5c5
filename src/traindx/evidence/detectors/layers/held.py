"""Weights that are frozen, grow, or are not the model's."""

import numpy as np

from traindx.core.facts import facts, number, words
from traindx.evidence.detector import (
    Case,
    Cases,
    Detected,
    Detector,
    Event,
    Finding,
    Place,
    Run,
    Severity,
    Skipped,
)
from traindx.evidence.detectors._layers import chain, matrices, model
from traindx.evidence.detectors._number_text import count, percent, strength, text, times
from traindx.evidence.sampled import part
from traindx.testing.sketch import decay, run


@Detector("Frozen layers are random", needs=("fact:models",), family="restored_state")
def frozen_at_random(case: Case, *, min_share: float = 0.5, min_of_model: float = 0.2) -> Detected:
    """Frozen layers hold the random numbers that they were made with: nothing was loaded into them.

    The weights of frozen layers are compared, before the first step, with what the framework draws for a new
    layer: even numbers in a range that only its size sets, in Keras with biases of zero, or normal numbers
    beside biases of zero. Seen when
    {min_share:%} or more of what is frozen is so. High where the training does not do well; where it does,
    random features are enough, and it is worth knowing, as it is of a model at rest, whose weights may be
    loaded later.

    Silent about frozen norms and embeddings, about layers with other initial values, and where the frozen
    part is small beside the model.
    """
    frozen = part(case.inside.largest_model, "frozen")
    initial, all_frozen = number(frozen, "initial"), number(frozen, "elements")
    whole = number(case.inside.largest_model, "parameters")
    if initial is None or not all_frozen or not whole:
        return Skipped("a model with frozen layers")
    if initial < min_share * all_frozen or all_frozen < min_of_model * whole:
        return None
    harmless = case.level.well or bool(case.inside.checked)
    share = percent(initial / all_frozen)
    return Finding(
        f"{count(initial)} of {count(all_frozen)} frozen numbers ({share}) are as random as when their "
        "layers were made: what they should hold was never loaded.",
        None if harmless else "silent_defect",
        "low" if harmless else "high",
        case.span[0],
        numbers={"initial_share": share},
    )


def _model(initial: int) -> dict[str, object]:
    frozen = {"count": 4, "names": [], "initial": initial, "elements": 9000}
    return {"models": [{"class": "Net", "parameters": 10_000, "trainable": 1000, "frozen": frozen}]}


@Detector("Parameters in no optimizer", needs=("fact:optimizers",), family="untrained")
def parameters_not_held(case: Case, *, min_share: float = 0.02, large_share: float = 0.2) -> Detected:
    """Parameters that take part in the loss, want a gradient and are in no optimizer.

    Told by the graph of the first loss: its parameters against those the optimizer holds, and by the model's
    own list. They get gradients and never change. Layers in a plain Python list, a sub-model left out when
    the optimizer was made, and an optimizer that was made before a layer was replaced give it.

    Of low severity when the weights were loaded before (a pretrained body whose head alone is trained), when
    they are few, or when further parameters were added later. Could not look with several optimizers. Silent
    about frozen parameters, and about copies in full precision that an optimizer holds in their place.
    """
    reach = case.inside.fact("reach")
    if len(case.inside.optimizers) != 1 or not reach:
        return Skipped("a recording of a training with a single optimizer")
    own, free, whole = (number(reach, key) or 0.0 for key in ("held", "free_elements", "elements"))
    names = words(reach, "free")
    if not own or not names or not whole:
        return None
    part = free / whole
    loaded = bool(facts(case.run.facts.get("restored")))
    later = bool(case.inside.events("parameters_added"))
    severity: Severity = (
        "low" if loaded or later or part < min_share else "high" if part >= large_share else "medium"
    )
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return Finding(
        f"{len(names)} trainable parameters of the loss ({count(free)} of {count(whole)} numbers, "
        f"{percent(part)}) are in no optimizer and never change: {listed}.",
        "silent_defect",
        severity,
        case.span[0],
        strength=0.3 if severity == "low" else strength(part, min_share, large_share),
        numbers={"untrained_share": percent(part), "untrained": listed},
        places=tuple(Place(layer=name.rpartition(".")[0] or name) for name in names[:1] if "(" not in name),
    )


def _facts(own: int, free: list[str], free_elements: int) -> dict[str, object]:
    return {
        "optimizers": [{"class": "Adam", "parameters": own}],
        "reach": {
            "parameters": own + len(free),
            "elements": 5000,
            "held": own,
            "free": free,
            "free_elements": free_elements,
            "outside": 0,
        },
    }


@Detector("Weights not restored", needs=("fact:optimizers",), family="restored_state")
def weights_not_restored(case: Case, *, missing_share: float = 0.5) -> Detected:
    """Weights were loaded that do not fit the model.

    `load_state_dict(strict=False)` says nothing when names differ: the model keeps its random weights. Seen
    when both sides have names that the other lacks (a prefix such as `module.` is the usual reason). High
    when nothing fitted, medium when half or more is missing.

    Silent when the file merely lacks a new head, or holds more than is wanted, and about what is loaded
    after the training.
    """
    loads = facts(case.run.facts.get("restored"))
    if not loads:
        return Skipped()
    last = case.run.last_step or 0.0
    for load in loads:
        missing, expected = number(load, "missing") or 0.0, number(load, "wanted") or 0.0
        strange, step = number(load, "unexpected") or 0.0, number(load, "step") or 0.0
        if not (missing and strange and expected) or missing < missing_share * expected or step >= last > 0:
            continue
        names = words(load, "missing_names"), words(load, "unexpected_names")
        example = f" ({names[1][0]} in the file, {names[0][0]} in the model)" if all(names) else ""
        return Finding(
            f"Of {text(expected)} tensors that the model wants {text(missing)} were not in what was loaded, "
            f"which holds {text(strange)} others{example}: they keep their random values.",
            "silent_defect",
            "high" if missing >= expected else "medium",
            case.span[0],
            numbers={"missing": text(missing)},
        )
    return None


def _run(missing: int, unexpected: int) -> Run:
    load = {"keys": 4, "missing": missing, "unexpected": unexpected, "wanted": 4, "step": 0}
    return run({"loss": decay(60, 2.0, 0.5)}, facts={"optimizers": [{}], "restored": [load]})


@Detector("Weights grow many times over", needs=("fact:models", "weight_norm/*"), family="weights_grow")
def weights_grow(
    case: Case, *, growth_factor: float = 5.0, min_initial_gain: float = 0.1, min_samples: int = 3
) -> Detected:
    """The weights grow to many times their size within the run.

    Compares the norms of the weight matrices at the last look with those at the first. Seen when the typical
    layer has grown {growth_factor} times: a run that is thrown outwards by its steps. A sign; the loss tells
    the rest.

    Silent about layers that start next to 0 (they must grow), and about growth by a few times, which is
    usual. Known mistakes: none known; trained nets seldom grow beyond three times.
    """
    small = {m.name for m in matrices(case) if m.gain is not None and m.gain < min_initial_gain}
    norms = [c for name, c in chain(case, "weight_norm", least=min_samples).items() if name not in small]
    factors = [float(curve.y[-1] / curve.y[0]) for curve in norms if curve.y[0] > 0]
    if not factors:
        return Skipped(f"{min_samples} samples of the weights")
    typical = float(np.median(factors))
    if typical < growth_factor:
        return None
    return Finding(
        text=f"The weights of the typical layer have grown {times(typical)} over {len(norms[0])} looks.",
        step=float(norms[0].x[0]),
        series=norms[0].name,
        strength=strength(typical, growth_factor, 30.0),
        numbers={"weight_growth": typical},
    )


def _norms(values: list[float], gain: float = 0.577) -> Run:
    series = {f"weight_norm/{name}": values for name in (0, 2, 4)}
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]], gain=gain))


def cases() -> Cases:
    yield from frozen_at_random.fires(run({"loss": decay(60, 1.4, 1.0)}, facts=_model(8800)))
    yield from frozen_at_random.silent(run({"loss": decay(60, 1.4, 1.0)}, facts=_model(0)))
    yield from frozen_at_random.silent(run({"loss": decay(60, 1.4, 1.0)}, facts=_model(2000)))
    loss = {"loss": decay(50, 2.0, 1.0)}
    yield from parameters_not_held.fires(run(loss, facts=_facts(2, ["enc.0.weight", "enc.0.bias"], 4000)))
    yield from parameters_not_held.fires(run(loss, facts=_facts(2, ["parameter (64x64)"], 4096)))
    yield from parameters_not_held.silent(run(loss, facts=_facts(6, [], 0)))
    yield from parameters_not_held.silent(run(loss, facts=_facts(0, ["copied.weight"], 5000)))
    several = _facts(2, ["critic.0.weight"], 4000) | {"optimizers": [{"class": "Adam"}, {"class": "Adam"}]}
    yield from parameters_not_held.silent(run(loss, facts=several, events=[Event("mode", "", 1.0)]))
    yield from weights_not_restored.fires(_run(4, 4))
    yield from weights_not_restored.silent(_run(2, 0), _run(0, 3), _run(1, 1))
    yield from weights_grow.fires(_norms([1.0, 8.0, 20.0, 40.0]))
    yield from weights_grow.silent(_norms([1.0, 1.2, 1.5, 2.5]), _norms([0.01, 0.5, 1.0, 1.2], gain=0.01))
