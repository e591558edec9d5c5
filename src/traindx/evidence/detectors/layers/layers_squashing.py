"""Several layers in a row squash the signal by sigmoid or tanh, and nothing holds its scale.

Counts the activations that saturate (sigmoid, tanh and their like) among those looked at. Seen from
{min_layers} of them on, where they are the greater part and there is neither normalisation nor a way around.
Each passes at most a quarter (sigmoid) of the gradient. A sign: whether it does harm, the gradients tell.

Silent about recurrent cells, whose gates are not looked at, and about a sigmoid at the output.
Known mistakes: tanh with a fitting start carries some ten layers.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._layers import modules_in_order, plain_stack
from traindx.evidence.detectors._number_text import strength
from traindx.testing.sketch import run

DETECTOR = Detector(title="Squashing activations in a row", needs=("activation_std/*",), family="squashing")


def detect(case: Case, *, min_layers: int = 4, full_strength_at: int = 7) -> Detected:
    flat = [name for name, _ in modules_in_order(case, "activation_saturated_share")]
    others = [name for name, _ in modules_in_order(case, "activation_zero_share") if name not in flat]
    if not flat and not others:
        return Skipped("samples of activations between layers")
    if len(flat) < min_layers or len(flat) <= len(others) or not plain_stack(case):
        return None
    return Finding(
        text=f"{len(flat)} layers in a row squash the signal (sigmoid, tanh or the like), without "
        "normalisation or skip connections between them.",
        strength=strength(len(flat), min_layers / 2, full_strength_at),
        numbers={"layers": len(flat)},
    )


def _squashed(count: int, **more: Any) -> Run:
    from traindx.evidence.detectors._layers import model

    series: dict[str, list[float]] = {}
    for at in range(count):
        series |= {
            f"activation_{key}/{2 * at + 1}": [0.1] * 5 for key in ("saturated_share", "spread", "std")
        }
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 32]] * (count + 1), **more))


def fires() -> Runs:
    yield _squashed(8)


def silent() -> Runs:
    yield _squashed(2)
    yield _squashed(8, normalisation={"LayerNorm": 8})
