"""Gradients that do not reach the weights."""

import numpy as np

from traindx.core.facts import number, words
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Event,
    Finding,
    Place,
    Run,
    Skipped,
)
from traindx.evidence.detectors._layers import chain, fades, model, quoted, settled, typical_gradients
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.detectors.numerics.scaling import half_precision
from traindx.testing.sketch import decay, noisy, run


@Detector("Gradients are cut off", needs=("fact:models", "grad_norm/*"), family="layer_gradients")
def gradients_cut(
    case: Case,
    *,
    min_samples: int = 3,
    fade_ratio: float = 1e-3,
    rank_correlation: float = 0.7,
    min_layers: int = 4,
) -> Detected:
    """From some layer on back to the input, gradients are exactly zero.

    Seen when the first layers of a model, which the optimizer holds, have a gradient of exactly 0 in every
    look but the first, while a layer nearer to the loss has one: the chain breaks between the two. Dead
    units, weights that are all zero, a detached tensor or a saturated function do that. The layers behind
    the break learn nothing.

    Silent when no layer has a gradient (gradients_none), when they fade until nothing is left
    (layer_gradients_fade), when the zeros are not at the input's end (experts that are seldom chosen), when
    they end (zero-initialised heads and branches hold the rest back for one step only), and about frozen
    layers, which have no gradient. Known mistakes: a model of which the first part is not used on purpose
    but left in the optimizer.
    """
    curves = chain(case, "grad_norm", least=min_samples)
    if len(curves) < 2:
        return Skipped(f"{min_samples} samples of the gradients of at least 2 layers")
    silent: list[str] = []
    for name, curve in curves.items():
        if settled(curve).any():
            break
        silent.append(name)
    if not silent:
        return None
    alive = [name for name in curves if name not in silent]
    if not alive or fades(
        typical_gradients(case, curves), ratio=fade_ratio, order=rank_correlation, layers=min_layers
    ):
        return None  # gradients_none, layer_gradients_fade
    samples = len(curves[silent[0]])
    phrase = f"Gradients of {quoted(silent)} are exactly 0 in all {samples} looks"
    return Finding(
        text=f"{phrase}: the chain breaks before `{alive[0]}`.",
        symptom="vanishing_gradients",
        severity="high",
        step=float(curves[silent[0]].x[0]),
        series=curves[silent[-1]].name,
        numbers={"layers": len(silent), "layers_all": len(curves)},
        places=(Place(layer=silent[-1]), *(Place(layer=name) for name in alive[:1])),
    )


@Detector(
    "Layers stay at zero", needs=("fact:models", "weight_norm/*", "grad_norm/*"), family="layer_gradients"
)
def layers_stay_zero(case: Case, *, min_samples: int = 3) -> Detected:
    """The weights of a layer are all zero, its gradients are too, and both stay so.

    Seen when a layer that the optimizer holds has a norm of exactly 0 and a gradient of exactly 0 in every
    sample, while others have gradients: two factors that both begin at zero (both matrices of an adapter, a
    layer and the gate behind it) pass nothing to one another and never move.

    Silent where only one of the two is zero: a head or branch that begins at zero moves at its first step.
    """
    norms, gradients = (case.inside.layers(name) for name in ("weight_norm", "grad_norm"))
    names = [name for name in norms if name in gradients and len(gradients[name]) >= min_samples]
    if len(names) < 2:
        return Skipped(f"{min_samples} samples of the weights and gradients of at least 2 layers")
    moves = any(gradients[name].y.any() for name in names)
    zero = [name for name in names if not norms[name].y.any() and not gradients[name].y.any()]
    if not zero or not moves:
        return None
    return Finding(
        f"The weights and the gradients of {quoted(zero)} are exactly 0 in all {len(gradients[zero[0]])} "
        "samples: nothing moves them.",
        symptom="silent_defect",
        severity="high",
        step=float(gradients[zero[0]].x[0]),
        series=gradients[zero[0]].name,
        numbers={"layers": len(zero), "layers_all": len(names)},
        places=(Place(layer=zero[0]),),
    )


@Detector("No gradient at all", needs=("recording|grad_norm",), family="untrained")
def no_gradient_at_all(case: Case, *, doubtful_strength: float = 0.6, min_points: int = 10) -> Detected:
    """The optimizer steps, and no parameter it holds ever has a gradient.

    Either `backward` was never called, or the loss hangs on none of the parameters (`.item()`, `detach`, a
    new tensor), or the gradients are cleared between `backward` and `step`. Which one, is read from the
    graph of the loss: whether the held parameters are behind it.

    In a log: the gradient norm is exactly 0 in all of at least {min_points} values, and the loss does not
    fall.

    Less clear when gradients are there and all zero. Silent as soon as one parameter had a gradient in one
    sample, and about gradients that fp16 rounds to zero.
    """
    if not case.inside.recorded:
        return _logged_zero(case, min_points)
    if not case.inside.optimizers or (case.run.last_step or 0) < 4:
        return Skipped("a recording of an optimizer that steps")
    events = [event for event in case.inside.events("no_gradient") if number(event.data, "reached") == 0]
    if not events or any((curve.y > 0).any() for curve in case.inside.layers("grad_norm").values()):
        return None
    norm = case.grad_norm
    if norm is not None and (norm.y > 0).any():
        return None
    cut = bool(words(events[-1].data, "cut_off"))
    if not cut and half_precision(case):
        return None
    reach = case.inside.fact("reach")
    linked = (number(reach, "held") or 0.0) > 0
    if linked:
        why = "though the loss is computed from them: they are cleared between backward and step"
    elif case.loss is None or "loss" not in case.run.series:
        why = "backward was not called before it"
    else:
        why = "the loss on which backward is called hangs on none of them"
    layers = words(events[-1].data, "layers")
    return Finding(
        f"The optimizer steps, but no gradient is there in any of its {len(layers)} layers; {why}.",
        "silent_defect",
        "high",
        case.span[0],
        strength=1.0 if cut else doubtful_strength,
        numbers={"untrained_share": "100 %", "cleared": str(linked).lower()},
    )


def _logged_zero(case: Case, min_points: int) -> Finding | Skipped | None:
    """A log in which the gradient norm is exactly 0 all along, and the loss stays where it is."""
    norm = case.grad_norm
    if norm is None or len(norm) < min_points or case.surrogate:
        return Skipped(f"a recording, or at least {min_points} values of the gradient norm")
    if norm.broken or norm.y.any() or case.harm.learned(share=0.02):
        return None
    return Finding(
        f"The gradient norm is exactly 0 in all {len(norm)} logged values, and the loss does not fall: no "
        "gradient reaches the parameters.",
        "not_learning",
        "high",
        float(norm.x[0]),
        series=norm.name,
    )


def _run(reached: int, norms: list[float], own: int = 4) -> Run:
    data = {"layers": ["0", "2"], "cut_off": ["0.weight", "2.weight"], "reached": reached}
    event = Event("no_gradient", "no gradient reached 0, 2", 4.0, data)
    facts = {"optimizers": [{"class": "SGD"}], "reach": {"parameters": 4, "held": own}}
    series = {"loss": noisy([1.4] * 60, 0.05), "grad_norm/0": np.array(norms)}
    return run(series, facts=facts, events=[event])


@Detector("Gradients cleared before the step", needs=("fact:optimizers",), family="zeroing")
def gradients_cleared_before_step(case: Case) -> Detected:
    """Gradients are cleared between backward and the step.

    Seen when the loss is computed from the parameters that the optimizer holds, backward is called, and yet
    none of them has a gradient when the step is taken: `zero_grad` stands between the two. Nothing is
    learned.

    A sign beside no_gradient_at_all, which is the trouble itself. Silent when gradients reach the step.
    """
    finding = no_gradient_at_all.detect(case)
    if not isinstance(finding, Finding):
        return finding if isinstance(finding, Skipped) else None
    if finding.numbers.get("cleared") != "true":
        return None
    steps = case.run.last_step or 0.0
    words = f"zero_grad() is called between backward() and step(), for {steps:,.0f} steps."
    return Finding(words, None, "low", finding.step)


@Detector("Stands without a gradient", family="gradient_size", guards=("surrogate",))
def plateau_without_gradient(
    case: Case,
    loss: Curve,
    grad_norm: Curve,
    *,
    loss_left: float = 0.3,
    min_points: int = 8,
) -> Detected:
    """The gradient norm is next to nothing where the loss stands still, far from zero.

    Where a loss has stopped, batches still pull the weights this way and that: the gradient norm keeps a
    size that goes with the loss, mostly 0.1 to 10. Seen when its median since the loss stopped is under a
    fiftieth of the loss and either under a tenth of what it was at first or under 0.01, and {loss_left} of
    the first loss or more is left: something blocks the gradient (saturated or dead units, a deep plain
    stack), or the weights rest at a saddle point or in a flat region.

    Silent where the loss does not stand, where it came down, and for reinforcement learning and GANs.
    Known mistakes: full-batch training at a true minimum has no gradient either.
    """
    stop = case.harm.standstill
    if stop is None:
        return Skipped()
    norm = case.harm.norm_at_standstill
    if norm is None or not stop.level > 0:
        return Skipped("the gradient norm where the loss stands")
    if not case.harm.gradient_gone or stop.level < loss_left * abs(loss.head):
        return None
    return Finding(
        f"The gradient norm is {text(norm)} where the loss stands at {text(stop.level)} (since "
        f"{where(loss, stop.since)}); usual are 0.1 to 10. Something blocks the gradient, or this is a "
        "saddle point or a flat region.",
        step=stop.since,
        series=grad_norm.name,
        numbers={"grad_norm": norm, "last_value": stop.level},
    )


def cases() -> Cases:
    adapters = {"weight_norm/a": [0.0] * 5, "grad_norm/a": [0.0] * 5, "weight_norm/b": [1.0] * 5}
    facts = model([[8, 8], [8, 8]])
    yield from layers_stay_zero.fires(run({**adapters, "grad_norm/b": [0.4] * 5}, facts=facts))
    branch = {**adapters, "grad_norm/a": [0.1] * 5, "grad_norm/b": [0.4] * 5}
    still = {**adapters, "grad_norm/b": [0.0] * 5}
    yield from layers_stay_zero.silent(run(branch, facts=facts), run(still, facts=facts))
    series = {"grad_norm/0": [0.0] * 6, "grad_norm/2": [0.0] * 6, "grad_norm/4": [0.3] * 6}
    yield from gradients_cut.fires(
        run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))
    )
    died = {"grad_norm/0": [0.4] + [0.0] * 6, "grad_norm/2": [0.1] * 7}
    yield from gradients_cut.fires(run({"loss": [1.6] * 30, **died}, facts=model([[32, 8], [4, 32]])))
    warming_up = {
        "grad_norm/0": [0.0, 1e-4, 0.1, 0.1],
        "grad_norm/2": [0.0, 1e-3, 0.2, 0.2],
        "grad_norm/4": [0.3] * 4,
    }
    yield from gradients_cut.silent(
        run({"loss": decay(30, 2.0, 0.1), **warming_up}, facts=model([[32, 8], [32, 32], [4, 32]]))
    )
    expert = {"grad_norm/0": [0.3] * 4, "grad_norm/2": [0.0] * 4, "grad_norm/4": [0.3] * 4}
    yield from gradients_cut.silent(
        run({"loss": decay(30, 2.0, 0.1), **expert}, facts=model([[32, 8], [32, 32], [4, 32]]))
    )
    yield from no_gradient_at_all.fires(_run(0, [0.0, 0.0, 0.0]))
    yield from no_gradient_at_all.fires(_run(0, [], own=0))
    yield from no_gradient_at_all.fires(run({"grad_norm": [0.0] * 30, "loss": noisy([2.3] * 30, 0.01)}))
    yield from no_gradient_at_all.silent(_run(2, [0.0, 0.0, 0.0]), _run(0, [0.0, 0.1, 0.2]))
    yield from gradients_cleared_before_step.fires(_run(0, [0.0, 0.0, 0.0]))
    yield from gradients_cleared_before_step.silent(_run(0, [], own=0), _run(2, [0.0, 0.0, 0.0]))
    flat = noisy([*np.linspace(2.3, 1.4, 30), *[1.4] * 120], 0.01)
    yield from plateau_without_gradient.fires(
        run({"loss": flat, "grad_norm": noisy([*np.linspace(1.0, 0.002, 30), *[0.002] * 120], 0.2)})
    )
    yield from plateau_without_gradient.silent(run({"loss": flat, "grad_norm": noisy([0.8] * 150, 0.2)}))
    low = noisy(decay(150, 2.0, 0.02, rate=20), 0.02)
    yield from plateau_without_gradient.silent(run({"loss": low, "grad_norm": noisy([1e-4] * 150, 0.2)}))
