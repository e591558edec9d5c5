"""Units that no longer answer."""

from typing import Any

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._layers import model, modules_in_order, plain_stack, quoted, saturated
from traindx.evidence.detectors._number_text import percent, strength
from traindx.testing.sketch import decay, run

# A layer of which a part is dead still passes the signal on: weaker evidence of why nothing is learned.
_PART = 0.5


@Detector(
    "Dead units",
    needs=("activation_dead_share/*|activation_zero_share/*",),
    family="dead_units",
    harms="units",
)
def units_dead(
    case: Case,
    *,
    dead_share: float = 0.5,
    extreme_share: float = 0.9,
    dying_share: float = 0.85,
    dying_growth: float = 0.2,
    min_samples: int = 4,
) -> Detected:
    """Units of a layer give zero for every sample.

    Counts the units after ReLU and its kin that gave 0 for each of the samples of the last looks (256 and
    more), layer by layer. A layer in which {extreme_share} of the units are dead passes next to nothing on:
    that is trouble when the loss does not come down by half. Half a layer dead ({dead_share}) is worth
    knowing. So is a share of zeros that has grown by {dying_growth} to {dying_share} or more: units die.

    Silent about sparse units, which are 0 for most inputs and not for all, and before enough samples were
    seen. Known mistakes: inputs that reach only some units by design, such as experts.
    """
    last = {name: float(curve.y[-1]) for name, curve in modules_in_order(case, "activation_dead_share")}
    for name, curve in modules_in_order(case, "activation_zero_share"):
        if name in last or len(curve) < min_samples:
            continue
        # Too few samples for single units; a whole layer that is 0 all the time needs no more.
        if (curve.y >= 1.0).all():
            last[name] = 1.0
        # Units die where ever more outputs are 0, and few others are left. A recording counts them itself.
        elif (
            not case.inside.recorded
            and curve.tail >= dying_share
            and curve.tail - float(curve.y[0]) >= dying_growth
        ):
            last[name] = curve.tail
    if not last:
        return Skipped("outputs of 256 inputs after ReLU or a variant of it")
    names = sorted((name for name in last if last[name] >= dead_share), key=lambda name: -last[name])
    if not names:
        return None
    worst = names[0]
    recorded = case.inside.layers("activation_dead_share")
    curve = recorded[worst] if worst in recorded else case.inside.layers("activation_zero_share")[worst]
    first = float(curve.x[(curve.y >= dead_share).argmax()])
    return Finding(
        text=f"{percent(last[worst])} of the units of {quoted([worst])} gave 0 for every sample of the last "
        f"looks; {len(names)} of {len(last)} layers are at least {percent(dead_share)} dead.",
        symptom="dead_units",
        severity="high" if last[worst] >= extreme_share else "medium",
        step=first,
        series=curve.name,
        strength=_PART * strength(last[worst], dead_share, extreme_share)
        if last[worst] < extreme_share
        else 1.0,
        numbers={"dead_share": last[worst], "layers_dead": len(names), "layers_all": len(last)},
        places=tuple(Place(layer=name.removesuffix(".input")) for name in names[:3]),
    )


@Detector(
    "Saturated units", needs=("activation_saturated_share/*",), family="saturated_units", harms="learning"
)
def units_saturated(
    case: Case, *, saturated_share: float = 0.5, extreme_share: float = 0.8, min_samples: int = 2
) -> Detected:
    """Sigmoid or tanh units sit in their flat region.

    Takes the share of values of hidden sigmoid, tanh and like units where the slope is under a fiftieth of
    its largest. Seen when a hidden layer has {saturated_share} of its values there in most looks; it is
    trouble when the loss does not come down.

    Silent about the last one of a model, which may be an output (a sure classifier is meant to be flat
    there), and about gates inside recurrent cells, which are not looked at. Known mistakes: a hidden layer
    meant to decide, such as a gate built from single layers.
    """
    shares = saturated(case, least=min_samples)
    if not shares:
        return Skipped("samples of sigmoid, tanh or similar units between layers")
    names = sorted(
        (name for name in shares if shares[name] >= saturated_share), key=lambda name: -shares[name]
    )
    if not names:
        return None
    worst = names[0]
    curve = case.inside.layers("activation_saturated_share")[worst]
    early = float(curve.y[0]) >= saturated_share
    return Finding(
        text=f"{percent(shares[worst])} of the values of {quoted([worst])} lie in the flat region of their "
        f"function, {'from the first step on' if early else 'not yet at the first step'}; "
        f"{len(names)} of {len(shares)} layers are at least {percent(saturated_share)} flat.",
        symptom="saturated_units",
        severity="high" if shares[worst] >= extreme_share else "medium",
        step=float(curve.x[(curve.y >= saturated_share).argmax()]),
        series=curve.name,
        strength=strength(shares[worst], saturated_share, extreme_share),
        numbers={"saturated_share": shares[worst], "from_start": int(early)},
        places=tuple(Place(layer=name.removesuffix(".input")) for name in names[:3]),
    )


@Detector("Squashing activations in a row", needs=("activation_std/*",), family="squashing")
def layers_squashing(case: Case, *, min_layers: int = 4, full_strength_at: int = 7) -> Detected:
    """Several layers in a row squash the signal by sigmoid or tanh, and nothing holds its scale.

    Counts the activations that saturate (sigmoid, tanh and their like) among those looked at. Seen from
    {min_layers} of them on, where they are the greater part and there is neither normalisation nor a way
    around. Each passes at most a quarter (sigmoid) of the gradient. A sign: whether it does harm, the
    gradients tell.

    Silent about recurrent cells, whose gates are not looked at, and about a sigmoid at the output.
    Known mistakes: tanh with a fitting start carries some ten layers.
    """
    flat = [name for name, _ in modules_in_order(case, "activation_saturated_share")]
    rectified = [name for name, _ in modules_in_order(case, "activation_zero_share") if name not in flat]
    if not flat and not rectified:
        return Skipped("samples of activations between layers")
    if len(flat) < min_layers or len(flat) <= len(rectified) or not plain_stack(case):
        return None
    return Finding(
        text=f"{len(flat)} layers in a row squash the signal (sigmoid, tanh or the like), without "
        "normalisation or skip connections between them.",
        strength=strength(len(flat), min_layers / 2, full_strength_at),
        numbers={"layers": len(flat)},
    )


def _squashed(count: int, **fields: Any) -> Run:
    series: dict[str, list[float]] = {}
    for at in range(count):
        series |= {
            f"activation_{key}/{2 * at + 1}": [0.1] * 5 for key in ("saturated_share", "spread", "std")
        }
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 32]] * (count + 1), **fields))


def cases() -> Cases:
    yield from units_dead.fires(run({"loss": [1.6] * 40, "activation_dead_share/1": [0.2, 1.0, 1.0]}))
    yield from units_dead.fires(run({"loss": decay(40, 2.0, 0.1), "activation_dead_share/1": [0.6] * 4}))
    yield from units_dead.fires(run({"loss": [1.6] * 40, "activation_zero_share/1": [1.0] * 5}))
    yield from units_dead.silent(run({"loss": decay(40, 2.0, 0.1), "activation_dead_share/1": [0.3] * 4}))
    sparse = {"activation_zero_share/1": [0.97] * 4, "activation_dead_share/1": [0.02] * 4}
    yield from units_dead.silent(run({"loss": decay(40, 2.0, 0.1), **sparse}))
    flat = {"activation_saturated_share/1": [0.9] * 5, "activation_saturated_share/3": [0.7] * 5}
    spread = {"activation_std/1": [1.0] * 5, "activation_std/3": [1.0] * 5}
    yield from units_saturated.fires(
        run({"loss": [1.6] * 40, **flat, **spread}, facts=model([[32, 8], [32, 32], [4, 32]]))
    )
    output = {"activation_saturated_share/1": [0.05] * 5, "activation_saturated_share/3": [0.95] * 5}
    spread = {"activation_std/1": [1.0] * 5, "activation_std/3": [1.0] * 5}
    learned = {"loss": decay(40, 0.7, 0.01)}
    yield from units_saturated.silent(
        run({**learned, **output, **spread}, facts=model([[32, 8], [1, 32]])),
        run(
            {**learned, "activation_saturated_share/1": [0.2] * 5, **spread}, facts=model([[32, 8], [1, 32]])
        ),
    )
    yield from layers_squashing.fires(_squashed(8))
    yield from layers_squashing.silent(_squashed(2), _squashed(8, normalisation={"LayerNorm": 8}))
