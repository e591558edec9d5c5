"""Nothing in the inputs predicts the targets: simple predictors do no better than on shuffled targets.

The recorder lets a ridge regression, a vote of twelve neighbours and products of two features tell the target
of each of a few hundred samples from the others. Seen when none stands out from the same on shuffled targets,
with {min_data_samples} samples and more. A sign, and half as strong where such predictors may well miss what
a network finds: convolutions, recurrence or attention, inputs of whole numbers (bits, one-hot codes), inputs
of which only a part was kept.

Could not look where failing says nothing: inputs that are ids (integers, or looked up in an embedding),
samples of several inputs, and one class with {max_chance_level:%} of the targets. Silent when validation
accuracy is well above chance. Known mistakes: targets by a rule of three and more features at once, like
parity.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._simple_predictors import hidden_by, told_nothing, validated
from traindx.evidence.sampled import odd_objective, one_target_each, part
from traindx.testing.sketch import run

DETECTOR = Detector(title="Inputs do not predict the targets", needs=("fact:samples",), family="label_sense")


def detect(
    case: Case,
    *,
    z_score: float = 2.5,
    max_linear_z: float = 3.0,
    max_gain: float = 0.06,
    min_data_samples: int = 150,
    max_chance_level: float = 0.8,
    validation_margin: float = 0.15,
) -> Detected:
    relation = part(case.inside.fact("samples"), "relation")
    stands_out, kept = number(relation, "z"), number(relation, "samples")
    told, chance = number(relation, "told"), number(relation, "by_chance")
    if stands_out is None or kept is None or kept < min_data_samples or told is None or chance is None:
        return Skipped(f"at least {min_data_samples} samples with one target each")
    if odd_objective(case) or not one_target_each(case):
        return Skipped()
    agreement = abs(number(relation, "linked") or 0.0)
    if stands_out > z_score or told - chance > max_gain or agreement > max_linear_z:
        return None
    if (validated(case) or 0.0) >= chance + validation_margin:
        return None
    if (nothing := told_nothing(case)) is not None:
        return nothing
    if number(relation, "classes") and chance >= max_chance_level:
        return Skipped("more targets of the rarer classes")
    weak = hidden_by(case)
    sentence = (
        f"From {kept:g} samples, a straight line and a vote of neighbours predict {percent(max(0.0, told))} "
        f"of the targets; of shuffled targets {percent(max(0.0, chance))}"
        + (f". {weak} may hide it from them." if weak else ".")
    )
    return Finding(sentence, strength=0.5 if weak else 1.0, numbers={"told": told, "by_chance": chance})


def _facts(
    told: float, z: float, samples: int = 500, *, chance: float = 0.2, linked: float = 0.5, **given: Any
) -> dict[str, Any]:
    relation = {"told": told, "by_chance": chance, "spread": 0.02, "z": z, "classes": 5, "samples": samples}
    kept = {"relation": {**relation, "linked": linked}, "input": given}
    return {"samples": {"taken": 900, "features": 40, **kept}}


def _model(kind: str, **more: Any) -> dict[str, Any]:
    return {"models": [{"parameters": 900, "layer_list": [{"name": "0", "type": kind}], **more}]}


def fires() -> Runs:
    real: dict[str, Any] = {"dtype": "float32", "elements": 40, "whole": False, "beside": 0}
    yield run({}, facts=_facts(0.21, 0.5))
    yield run({}, facts={**_facts(0.21, 0.5, **real), **_model("Linear")})
    yield run({}, facts={**_facts(0.21, 0.5, **real), **_model("Conv2d")})
    yield run({}, facts=_facts(0.21, 0.5, **{**real, "elements": 500}))
    yield run({"val/accuracy": [0.18, 0.22, 0.24, 0.21]}, facts=_facts(0.21, 0.5, **real))


def silent() -> Runs:
    yield run({}, facts=_facts(0.9, 30))
    yield run({}, facts=_facts(0.3, 5))
    yield run({}, facts=_facts(0.2, 0.1, samples=70))
    yield run({}, facts=_facts(0.21, 0.5, linked=9.0))
    yield run({}, facts=_facts(0.1, -3.1, linked=-6.0))
    yield run({}, facts=_facts(0.21, 0.5, dtype="int64", whole=True))
    yield run({}, facts={**_facts(0.21, 0.5), **_model("Embedding", embeddings=[{"name": "0", "size": 50}])})
    yield run({}, facts=_facts(0.21, 0.5, dtype="float32", beside=1))
    yield run({}, facts=_facts(0.97, 0.0, chance=0.97, dtype="float32"))
    yield run({"val/accuracy": [0.2, 0.4, 0.5, 0.55]}, facts=_facts(0.21, 0.5, dtype="float32"))
