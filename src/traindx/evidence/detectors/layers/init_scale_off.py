"""Initial weights are far larger or smaller than their number of inputs asks for.

The gain of a layer is the spread of its weights times the root of its inputs: about 1.4 keeps the signal
level under ReLU (He), 1 under tanh (Glorot), 0.58 is what PyTorch starts with. Where nothing holds the scale,
gains multiply: seen when the product over all models, against gains of 1, leaves {product_low} to
{product_high} and the typical gain is off by itself; of a loss that does not come down,
{product_low_if_stuck} is enough. With norms or skips only a typical gain above {gain_high_if_normalised}
counts.

It is trouble when the loss does not come down, starts far above that of a constant answer (too large), or
stands still for long at first (too small); else a sign: Adam forgives much.
Silent about a single odd layer (a small head), about embeddings, and about trained weights within limits.
Known mistakes: normalisation written by hand.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Runs, Skipped
from traindx.evidence.detectors._layers import all_matrices, plain_stack, saturated
from traindx.evidence.detectors._number_text import strength, text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Initial weights off scale", needs=("fact:models",), family="init")


def detect(
    case: Case,
    *,
    product_low: float = 1e-5,
    product_low_if_stuck: float = 1e-3,
    product_high: float = 100.0,
    gain_low: float = 0.35,
    gain_high: float = 3.0,
    gain_high_if_normalised: float = 5.0,
) -> Detected:
    found = [one for one in all_matrices(case) if one.gain]
    if len(found) < 2:
        return Skipped("the initial weights of at least 2 layers")
    values = np.array([one.gain for one in found])
    typical, product = float(np.median(values)), float(np.exp(np.log(values).sum()))
    plain, ill = plain_stack(case), case.harm.suffers
    large = typical >= (gain_high if plain else gain_high_if_normalised) and (
        product >= product_high or not plain
    )
    small = plain and typical <= gain_low and product <= (product_low_if_stuck if ill else product_low)
    if not large and not small:
        return None
    widest = found[int(np.argmax(values) if large else np.argmin(values))].name
    many = "many times" if plain else "several times"
    lasting = (
        case.harm.starts_far_above if large else case.harm.held_up or _hopeless(case, product, product_low)
    )
    harm = ill or lasting
    return Finding(
        text=f"Initial weights are off scale: the typical gain is {text(typical)} where about 1 keeps the "
        f"signal level; over {len(found)} layers it {'grows' if large else 'shrinks'} {many}.",
        symptom=_effect(case, large) if harm else None,
        severity="medium" if harm else "low",
        step=0.0,
        strength=strength(typical, gain_high, 6.0) if large else strength(1 / typical, 1 / gain_low, 30.0),
        numbers={"gain": typical, "gain_product": product, "layers": len(found)},
        places=(Place(layer=widest),),
    )


def _effect(
    case: Case, large: bool, *, flat_share: float = 0.5, largest_usual_norm: float = 10.0
) -> str | None:
    """What the scale does. Units that saturate under large weights keep the gradient in its usual range: then
    their saturation is the symptom, which `units_saturated` reports.
    """
    if not large:
        return "vanishing_gradients"
    norm = case.grad_norm
    usual = norm is not None and len(norm) > 0 and float(np.median(norm.y)) <= largest_usual_norm
    flat = max(saturated(case).values(), default=0.0) >= flat_share
    return None if usual and flat else "exploding_gradients"


def _hopeless(case: Case, product: float, low: float) -> bool:
    """Whether hardly anything comes through at first, and the run did not fully recover from it."""
    return product <= low * low and not case.harm.learned(share=0.5)


def fires() -> Runs:
    from traindx.evidence.detectors._layers import model

    yield run({"loss": [50.0] * 30}, facts=model([[64, 64]] * 5, gain=8.0))
    yield run({"loss": [1.6] * 30}, facts=model([[64, 64]] * 5, gain=0.01))
    coder = model([[48, 64], [32, 48]], gain=0.15)["models"]
    yield run(
        {"loss": [1.6] * 30}, facts={"models": [*coder, *model([[48, 32], [64, 48]], gain=0.15)["models"]]}
    )
    yield run({"loss": [1.6] * 30}, facts=model([[64, 64]] * 5, gain=8.0, normalisation={"LayerNorm": 4}))


def silent() -> Runs:
    from traindx.evidence.detectors._layers import model

    for gain in (0.577, 1.0, 1.41):
        yield run({"loss": [1.6] * 30}, facts=model([[64, 64]] * 20, gain=gain))
    yield run({}, facts=model([[64, 64]] * 12, gain=0.16, normalisation={"LayerNorm": 12}))
    yield run({}, facts=model([[64, 64]] * 3, gain=0.1))
