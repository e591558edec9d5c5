"""The first weights."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._layers import (
    Matrix,
    all_matrices,
    matrices,
    model,
    plain_stack,
    quoted,
    saturated,
)
from traindx.evidence.detectors._number_text import strength, text
from traindx.evidence.detectors._script import Places, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.roles import is_optimizer
from traindx.source.values import Const
from traindx.testing.sketch import run

_SAVE = "torch.save({'m': model.state_dict(), 'o': optimizer.state_dict()}, 'a.pt')"


@Detector("Constant initial weights", needs=("fact:models",), family="init")
def init_constant(case: Case, *, min_samples: int = 3) -> Detected:
    """Weight matrices start with all weights equal, or at zero where nothing can move them.

    Equal weights give all units of a layer the same gradient: they stay copies of each other for ever. Seen
    when a matrix starts as one number that is not 0; when most matrices of a plain stack start at 0; or when
    one starts at 0 and is still exactly 0 at the last look.

    Silent about zero-initialised heads, residual branches, gates and LoRA: they leave 0 with the first
    steps. Silent about matrices of one input or one output, whose weights may be equal without harm. Known
    mistakes: a matrix that is fixed on purpose but left in the optimizer.
    """
    layers = matrices(case)
    if not any(layer.gain is not None for layer in layers):
        return Skipped("the initial weights of the layers")
    several = [layer for layer in layers if layer.fan_in > 1 and layer.elements > layer.fan_in and layer.flat]
    constant = [layer.name for layer in several if not layer.zero]
    zeros = [layer for layer in several if layer.zero]
    mostly_zero = len(zeros) > max(1, len(layers) // 2) and (plain_stack(case) or len(zeros) == len(layers))
    stuck = [layer.name for layer in zeros if mostly_zero or _stays_zero(case, layer, min_samples)]
    if not constant and not stuck:
        return None
    names = constant or stuck
    learned = case.harm.learned(share=0.8)
    value = "one and the same number" if constant else "0"
    return Finding(
        text=f"All weights of {quoted(names)} start as {value} ({len(names)} of {len(layers)} layers): "
        "equal units get equal gradients and stay alike.",
        symptom="silent_defect",
        severity="low" if learned else "high" if constant or case.harm.suffers else "medium",
        step=0.0,
        numbers={"layers": len(names), "layers_all": len(layers)},
        places=tuple(Place(layer=name) for name in names[:3]),
    )


def _stays_zero(case: Case, layer: Matrix, least: int) -> bool:
    norms = case.inside.layers("weight_norm").get(layer.name)
    return norms is not None and len(norms) >= least and not norms.y.any()


def _constant(value: float, norms: list[float]) -> Run:
    facts = model([[32, 8], [32, 32], [4, 32]])
    facts["models"][0]["layer_list"][-1]["init"] = {"mean": value, "std": 0.0}
    series = {"weight_norm/4": norms}
    return run({"loss": [1.6] * 30, **series}, facts=facts)


@Detector("Initial weights off scale", needs=("fact:models",), family="init")
def init_scale_off(
    case: Case,
    *,
    product_low: float = 1e-5,
    product_low_if_stuck: float = 1e-3,
    product_high: float = 100.0,
    gain_low: float = 0.35,
    gain_high: float = 3.0,
    gain_high_if_normalised: float = 5.0,
) -> Detected:
    """Initial weights are far larger or smaller than their number of inputs asks for.

    The gain of a layer is the spread of its weights times the root of its inputs: about 1.4 keeps the signal
    level under ReLU (He), 1 under tanh (Glorot), 0.58 is what PyTorch starts with. Where nothing holds the
    scale, gains multiply: seen when the product over all models, against gains of 1, leaves {product_low} to
    {product_high} and the typical gain is off by itself; of a loss that does not come down,
    {product_low_if_stuck} is enough. With norms or skips only a typical gain above {gain_high_if_normalised}
    counts.

    It is trouble when the loss does not come down, starts far above that of a constant answer (too large),
    or stands still for long at first (too small); else a sign: Adam forgives much. Silent about a single odd
    layer (a small head), about embeddings, and about trained weights within limits. Known mistakes:
    normalisation written by hand.
    """
    layers = [layer for layer in all_matrices(case) if layer.gain]
    if len(layers) < 2:
        return Skipped("the initial weights of at least 2 layers")
    values = np.array([layer.gain for layer in layers])
    typical, product = float(np.median(values)), float(np.exp(np.log(values).sum()))
    plain, ill = plain_stack(case), case.harm.suffers
    large = typical >= (gain_high if plain else gain_high_if_normalised) and (
        product >= product_high or not plain
    )
    small = plain and typical <= gain_low and product <= (product_low_if_stuck if ill else product_low)
    if not large and not small:
        return None
    widest = layers[int(np.argmax(values) if large else np.argmin(values))].name
    factor = "many times" if plain else "several times"
    lasting = (
        case.harm.starts_far_above if large else case.harm.held_up or _hopeless(case, product, product_low)
    )
    harm = ill or lasting
    return Finding(
        text=f"Initial weights are off scale: the typical gain is {text(typical)} where about 1 keeps the "
        f"signal level; over {len(layers)} layers it {'grows' if large else 'shrinks'} {factor}.",
        symptom=_effect(case, large) if harm else None,
        step=0.0,
        strength=strength(typical, gain_high, 6.0) if large else strength(1 / typical, 1 / gain_low, 30.0),
        numbers={"gain": typical, "gain_product": product, "layers": len(layers)},
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


@Detector("state loaded by halves", family="script_state")
def script_state_partly_loaded(training: Training) -> Places:
    """A checkpoint is loaded by halves: names are passed over, or the optimizer's state is left out.

    Seen when `load_state_dict(..., strict=False)` loads into a model that the script trains: names that do
    not fit stay at their random values without a word. Also seen when the script saves the optimizer's state
    and loads the model's, and never loads the optimizer's.

    Both may be meant: signs, which count when a run starts worse than it should. Silent when the script
    loads nothing. Known mistake: a new head on old weights.
    """
    loads = training.trace.methods("load_state_dict")
    if not loads or not training.trace.named("torch.load"):
        return Skipped("a script that loads a checkpoint")
    findings = []
    for event in loads:
        strict = event.value.argument(1, "strict")
        if isinstance(strict, Const) and strict.value is False:
            findings.append(
                _finding(event, "passes over every name that does not fit: such weights stay random")
            )
    saved = [e for e in training.trace.methods("state_dict") if is_optimizer(e.value.receiver)]
    loaded = [e for e in loads if is_optimizer(e.value.receiver)]
    if saved and not loaded and not findings and training.followed("load_state_dict"):
        why = f"restores no state of the optimizer, which line {saved[0].spot.line} saves"
        findings.append(_finding(loads[0], why))
    return findings[:1]


def _finding(event: CallEvent, why: str) -> Finding:
    text = f"{where(event.spot)}: {code(event.spot)} {why} (line {event.spot.line})."
    return Finding(text, places=(place(event.spot),))


def cases() -> Cases:
    yield from init_constant.fires(_constant(0.05, [1.6, 1.7, 1.8]), _constant(0.0, [0.0] * 4))
    yield from init_constant.silent(_constant(0.0, [0.0, 0.01, 0.05, 0.2]))
    yield from init_constant.silent(run({"loss": [1.6] * 30}, facts=model([[32, 8], [4, 32]])))
    yield from init_scale_off.fires(run({"loss": [50.0] * 30}, facts=model([[64, 64]] * 5, gain=8.0)))
    yield from init_scale_off.fires(run({"loss": [1.6] * 30}, facts=model([[64, 64]] * 5, gain=0.01)))
    coder = model([[48, 64], [32, 48]], gain=0.15)["models"]
    yield from init_scale_off.fires(
        run(
            {"loss": [1.6] * 30},
            facts={"models": [*coder, *model([[48, 32], [64, 48]], gain=0.15)["models"]]},
        ),
        run({"loss": [1.6] * 30}, facts=model([[64, 64]] * 5, gain=8.0, normalisation={"LayerNorm": 4})),
    )
    for gain in (0.577, 1.0, 1.41):
        yield from init_scale_off.silent(run({"loss": [1.6] * 30}, facts=model([[64, 64]] * 20, gain=gain)))
    yield from init_scale_off.silent(
        run({}, facts=model([[64, 64]] * 12, gain=0.16, normalisation={"LayerNorm": 12})),
        run({}, facts=model([[64, 64]] * 3, gain=0.1)),
    )
    yield from script_state_partly_loaded.fires(
        script(setup="model.load_state_dict(torch.load('a.pt'), strict=False)"),
        script(setup="model.load_state_dict(torch.load('a.pt')['m'])", end=_SAVE),
    )
    yield from script_state_partly_loaded.silent(
        script(setup="model.load_state_dict(torch.load('a.pt'))"),
        script(
            setup="c = torch.load('a')\nmodel.load_state_dict(c['m'])",
            after="optimizer.load_state_dict(c['o'])",
            end=_SAVE,
        ),
        script(),
    )
