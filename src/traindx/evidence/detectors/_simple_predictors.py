"""Whether simple predictors (a straight line, a vote of neighbours) can tell what a network is to learn.

The one place of these rules, for all findings that rest on what such predictors made of the kept samples.
"""

from __future__ import annotations

from typing import Any

from traindx.core.facts import Fact, number
from traindx.core.kinds import kind_of_layer
from traindx.core.nouns import Skipped
from traindx.evidence.case import Case, Curve
from traindx.evidence.sampled import part

_SHARED_WEIGHTS = ("conv", "recurrent", "attention")


def uninformative(case: Case) -> Skipped | None:
    """What keeps the answers of simple predictors from saying anything, where something does."""
    inputs = _input(case)
    if _ids(case, inputs):
        return Skipped("inputs that are amounts, not ids")
    if number(inputs, "beside"):
        return Skipped("samples of one input and one target")
    return None


def hidden_by(case: Case) -> str:
    """What may keep simple predictors from seeing what a network sees; empty when nothing does."""
    kinds = [kind_of_layer(layer) for layer in case.inside.layer_list]
    marked = any(
        model.get("recurrent") is True or model.get("attention") is True for model in case.inside.models
    )
    if marked or any(kind in _SHARED_WEIGHTS for kind in kinds):
        return "Images and sequences"
    inputs = _input(case)
    elements, features = number(inputs, "elements"), number(case.inside.fact("samples"), "features")
    if elements is not None and features is not None and elements > features:
        return f"The {elements - features:g} of {elements:g} features that were not kept"
    return "Codes of whole numbers" if inputs.get("whole") is True else ""


def validated(case: Case) -> float | None:
    """The best accuracy on data that was not trained on."""
    return best_share(case.val("accuracy"))


def best_share(curve: Curve | None) -> float | None:
    """The highest of shares, or of percents, that a curve shows."""
    if curve is None or not len(curve):
        return None
    best = float(curve.y.max())
    return best / (100.0 if best > 1.5 else 1.0)


def _input(case: Case) -> Fact:
    return part(case.inside.fact("samples"), "input")


def _ids(case: Case, inputs: Fact) -> bool:
    """Whether inputs are numbers by name only. Bytes are pixels."""
    dtype = str(inputs.get("dtype", ""))
    looked_up = any(model.get("embeddings") for model in case.inside.models)
    return dtype.startswith("int") or (looked_up and inputs.get("whole") is not False)


def model_of(kind: str, **fields: Any) -> dict[str, Any]:
    """The facts of a model of one layer, for the cases of detectors."""
    return {"models": [{"parameters": 900, "layer_list": [{"name": "0", "type": kind}], **fields}]}
