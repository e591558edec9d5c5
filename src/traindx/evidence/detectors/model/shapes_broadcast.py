"""Output and target have different shapes, and the loss compares every output with every target.

Seen when the table that both are stretched to is larger than either: (32, 1) against (32,) becomes (32, 32).
In losses written by hand it is seen in the graph: outputs of N samples minus data become N by N.

Silent when one side is only repeated (a single label for all, weights for all rows), for batches of one, and
where both sides have gradients: losses that compare samples with each other stretch on purpose.
Known mistakes: a hand-written loss that compares each output with every target on purpose.
"""

from collections.abc import Mapping
from math import prod
from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, facts
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Shapes stretched at the loss", needs=("fact:losses|fact:graph",), family="broadcast"
)


def detect(case: Case) -> Detected:
    for loss in case.inside.losses:
        shapes = [str(loss.get(key, "")) for key in ("output_shape", "target_shape", "broadcast_shape")]
        sizes = [_elements(shape) for shape in shapes]
        if loss.get("broadcasts") is True and 0 < max(sizes[:2]) < sizes[2]:
            output, target, table = (shape.replace("x", ", ") for shape in shapes)
            return _found(str(loss.get("function", "the loss")), output, target, table)
    for stretch in facts(case.inside.fact("graph").get("stretched")):
        given, table = (str(stretch.get(key, "")).replace("x", ", ") for key in ("from", "to"))
        if given and table:
            return _found("the loss", given, "", table)
    return None if case.inside.losses or "stretched" in case.inside.fact("graph") else Skipped()


def _found(function: str, output: str, target: str, table: str) -> Finding:
    phrase = f" and targets ({target})" if target else " and data of another shape"
    sentence = (
        f"Outputs ({output}){phrase} are stretched to ({table}) in {function}: every output is compared "
        "with every target, and the best answer is the mean."
    )
    numbers = {"output_shape": output, "target_shape": target, "broadcast_shape": table}
    return Finding(sentence, "silent_defect", "high", numbers=numbers)


def _elements(shape: str) -> int:
    parts = shape.split("x")
    return prod(int(one) for one in parts) if all(one.isdigit() for one in parts) else 0


def _loss(output: str, target: str, table: str) -> dict[str, Any]:
    told: Mapping[str, Any] = {"function": "mse_loss", "reduction": "mean", "broadcasts": bool(table)}
    return {**told, "output_shape": output, "target_shape": target, "broadcast_shape": table}


def fires() -> Runs:
    yield run({"loss": [2.0, 1.0]}, facts={"losses": [_loss("32x1", "32", "32x32")]})
    stretched = [{"operation": "Sub", "from": "64x1", "to": "64x64"}]
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "stretched": stretched}})


def silent() -> Runs:
    yield run({"loss": [2.0, 1.0]}, facts={"losses": [_loss("32x1", "32x1", "")]})
    yield run({"loss": [2.0, 1.0]}, facts={"losses": [_loss("32x1", "1", "32x1")]})
    yield run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "stretched": []}})
