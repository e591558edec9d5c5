"""Units of a layer give zero for every sample.

Counts the units after ReLU and its kin that gave 0 for each of the samples of the last looks (256 and more),
layer by layer. A layer in which {extreme_share} of the units are dead passes next to nothing on: that is
trouble when the loss does not come down by half. Half a layer dead ({dead_share}) is worth knowing. So is a
share of zeros that has grown by {dying_growth} to {dying_share} or more: units die.

Silent about sparse units, which are 0 for most inputs and not for all, and before enough samples were seen.
Known mistakes: inputs that reach only some units by design, such as experts.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Runs, Skipped
from traindx.evidence.detectors._layers import modules_in_order, shown
from traindx.evidence.detectors._number_text import percent, strength
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Dead units",
    needs=("activation_dead_share/*|activation_zero_share/*",),
    family="dead_units",
    harms="units",
)


def detect(
    case: Case,
    *,
    dead_share: float = 0.5,
    extreme_share: float = 0.9,
    dying_share: float = 0.85,
    dying_growth: float = 0.2,
    min_samples: int = 4,
) -> Detected:
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
    known = case.inside.layers("activation_dead_share")
    curve = known[worst] if worst in known else case.inside.layers("activation_zero_share")[worst]
    first = float(curve.x[(curve.y >= dead_share).argmax()])
    return Finding(
        text=f"{percent(last[worst])} of the units of {shown([worst])} gave 0 for every sample of the last "
        f"looks; {len(names)} of {len(last)} layers are at least {percent(dead_share)} dead.",
        symptom="dead_units",
        severity="high" if last[worst] >= extreme_share else "medium",
        step=first,
        series=curve.name,
        strength=strength(last[worst], dead_share, extreme_share) if last[worst] < extreme_share else 1.0,
        numbers={"dead_share": last[worst], "layers_dead": len(names), "layers_all": len(last)},
        places=tuple(Place(layer=name.removesuffix(".input")) for name in names[:3]),
    )


def fires() -> Runs:
    yield run({"loss": [1.6] * 40, "activation_dead_share/1": [0.2, 1.0, 1.0]})
    yield run({"loss": decay(40, 2.0, 0.1), "activation_dead_share/1": [0.6] * 4})
    yield run({"loss": [1.6] * 40, "activation_zero_share/1": [1.0] * 5})


def silent() -> Runs:
    yield run({"loss": decay(40, 2.0, 0.1), "activation_dead_share/1": [0.3] * 4})
    sparse = {"activation_zero_share/1": [0.97] * 4, "activation_dead_share/1": [0.02] * 4}
    yield run({"loss": decay(40, 2.0, 0.1), **sparse})
