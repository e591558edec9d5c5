"""What holds a model back."""

import re
from typing import Any

import numpy as np

from traindx.core.facts import facts, number
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Run, Scalar, Skipped
from traindx.evidence.detectors._layers import model
from traindx.evidence.detectors._number_text import percent, strength, text, times
from traindx.evidence.detectors._script_words import speaks_of
from traindx.evidence.detectors._updates import ratios
from traindx.evidence.sampled import sampled
from traindx.testing.sketch import decay, noisy, run

_WORDS = re.compile(
    r"drop_?(out|path|block|connect)|stochastic_depth|smoothing|mix_?up|cut_?(mix|out)|augment|transforms|flip"
    r"|crop|jitter|penalt|regulari[sz]|(^|_)l[12]($|_)|(^|_)kl($|_)|max_norm"
)


@Detector(
    "Attention trained by plain SGD", needs=("fact:optimizers", "update_ratio/*"), family="optimizer_fit"
)
def attention_by_sgd(
    case: Case,
    *,
    max_update_ratio: float = 1e-3,
    loss_left: float = 0.5,
    curve_bend: float = 0.4,
    min_samples: int = 3,
) -> Detected:
    """A model with attention is trained by plain SGD, and the weights hardly move.

    Attention, embeddings and norms have gradients of very different size: one rate for all is too small for
    most of them. Seen when a model with attention is trained by SGD without momentum, the typical layer
    never changes by more than {max_update_ratio} of itself in a step, and the loss still falls to the end.

    A sign while the loss falls as it should. Silent with momentum, with other optimizers, and when steps are
    of ordinary size. Known mistakes: fine-tuning by small steps on purpose, which ends as low as it can.
    """
    optimizers, models = case.inside.optimizers, case.inside.models
    if len(optimizers) != 1 or len(models) != 1 or models[0].get("attention") is not True:
        return Skipped()
    _, values = ratios(case, least=min_samples)
    if values.size < min_samples:
        return Skipped(f"{min_samples} samples of what a step changes")
    momentum = case.number("momentum") or number(optimizers[0], "momentum") or 0.0
    if case.word("optimizer") != "sgd" or momentum or float(values.max()) > max_update_ratio:
        return None
    loss = case.loss
    slow = loss is not None and case.harm.slow(bend=curve_bend) and loss.tail > loss_left * loss.head
    return Finding(
        f"A model with attention is trained by SGD without momentum: the typical layer changes by at most "
        f"{text(float(values.max()))} of its size in a step"
        + (", and the loss still falls to the end." if slow else "."),
        symptom="slow_convergence" if slow else None,
        numbers={"update_ratio": float(values.max()), "optimizer": "sgd"},
    )


def _run(optimizer: str, ratio: float, *, attention: bool = True) -> Run:
    import numpy as np

    facts = model([[32, 8], [32, 32], [4, 32]])
    facts["models"][0]["attention"] = attention
    series = {f"update_ratio/{name}": [ratio] * 5 for name in (0, 2, 4)}
    loss = noisy(np.linspace(3.2, 2.5, 200), 0.01)
    settings: dict[str, Scalar] = {"optimizer": optimizer, "momentum": 0, "lr": 0.003}
    return run({"loss": loss, **series}, settings=settings, facts={**facts, "optimizers": [{"class": "SGD"}]})


@Detector(
    "Anything that restrains the model", needs=("fact:models", "fact:optimizers"), family="regularisation"
)
def model_restrained(case: Case, *, dropout_share: float = 0.4, total_to_loss: float = 1.5) -> Detected:
    """Something restrains the model: dropout layers that drop much, or terms added to the loss.

    A sign, for recorded trainings. Seen when a layer drops at least {dropout_share} of what it gets, or when
    backward is called on at least {total_to_loss} times what the loss function gives.

    Not seen only where there is nothing of the kind at all: no layer drops anything, no optimizer decays
    weights, nothing is added to the loss, and the script speaks of no dropout, penalty, smoothing, mixing or
    augmentation. A little of it says nothing either way. Could not look without the script when the model
    has a forward of its own, in which functions may drop. Known mistakes: restraints hidden in a library.
    """
    dropped, ratio = _dropped(case), sampled(case, "output/backward_ratio")
    if dropped is None:
        return Skipped()
    if dropped >= dropout_share:
        return _finding(f"A layer drops {percent(dropped)} of what it gets.", dropped)
    peak = float(ratio.y.max()) if ratio is not None else 1.0
    if peak >= total_to_loss and len(case.inside.losses) == 1:
        return _finding(f"Backward is called on up to {times(peak)} what the loss function gives.", dropped)
    if dropped > 0 or peak > 1.01 or any(_decays(o) for o in case.inside.optimizers):
        return Skipped()
    if case.script is None:
        own_forward = any(model.get("class") != "Sequential" for model in case.inside.models)
        return Skipped("the script") if own_forward else None
    return Skipped() if speaks_of(case.script, _WORDS) else None


def _finding(text: str, dropped: float) -> Finding:
    return Finding(text, numbers={"dropout": dropped})


def _dropped(case: Case) -> float | None:
    """The largest share that any layer drops; None when it was not recorded."""
    dropouts = [model.get("dropout") for model in case.inside.models]
    if not dropouts or any(not isinstance(rates, list | tuple) for rates in dropouts):
        return None
    rates = [rate for layer_rates in dropouts for rate in layer_rates or ()]
    return max((float(rate) for rate in rates if isinstance(rate, int | float)), default=0.0)


def _decays(optimizer: Any) -> bool:
    """Whether weights decay; an optimizer that does not say may do anything."""
    groups = facts(optimizer.get("groups"))
    return not groups or any(number(group, "weight_decay") != 0 for group in groups)


def _facts(dropout: list[float], decay: float | None = 0.0, kind: str = "Sequential") -> dict[str, Any]:
    group = {"lr": 0.001} | ({} if decay is None else {"weight_decay": decay})
    model = {"class": kind, "parameters": 900, "dropout": dropout}
    return {"models": [model], "optimizers": [{"class": "Adam", "groups": [group]}], "losses": [{}]}


@Detector(
    "Dropout drowns the training",
    needs=("setting:dropout",),
    family="regularisation",
    guards=("surrogate",),
    explains=("plateau", "config_dropout_high"),
)
def dropout_drowns(
    case: Case,
    loss: Curve,
    val_loss: Curve | None = None,
    *,
    min_dropout: float = 0.7,
    loss_left: float = 0.8,
    loss_left_unvalidated: float = 0.9,
    long_points: int = 400,
    min_points: int = 20,
) -> Detected:
    """Dropout is strong, and the training gets no further than a constant answer.

    Seen when a share of {min_dropout} or more is dropped, training no longer falls, or has gone on for
    {long_points} losses, and training and validation loss both end at {loss_left} or more of what a constant
    answer costs (ln K or the classes' own shares, the variance of the targets; of the first loss where no
    recording has these). Validation is measured without dropout: a model that learned under it does well
    there. Where there is none, the training loss, measured with the handicap on, must be nearer
    ({loss_left_unvalidated}).

    Silent with good scores, where simple models tell less of the targets than this one, in a log that begins
    late, for fewer than {min_points} losses, and for RL and GAN losses.
    Known mistakes: a setting that means the share kept; targets that nothing can be learned from.
    """
    dropout = case.number("dropout")
    if dropout is None or not 0 <= dropout <= 1:
        return Skipped("dropout as a probability")
    if dropout < min_dropout or not (loss.y > 0).all() or case.resumed or case.level.well:
        return None
    ends = [loss.tail, *([val_loss.tail] if val_loss is not None and len(val_loss) else [])]
    level, whose = _constant(case, loss)
    share = min(ends) / level
    if share < (loss_left if len(ends) > 1 else loss_left_unvalidated):
        return None
    if loss.course.still_falls() and len(loss) < long_points:
        return None
    also = f" and the validation loss at {text(ends[1])}" if len(ends) > 1 else ""
    return Finding(
        f"Dropout silences {percent(dropout)} of the units at every step, and the training loss ends at "
        f"{text(ends[0])}{also}: {percent(share)} of {whose} is left.",
        "underfitting",
        "medium",
        float(loss.x[0]),
        float(loss.x[-1]),
        loss.name,
        strength(dropout, 0.5 * min_dropout, 0.8),
        {"dropout": dropout, "unexplained": share},
    )


def _constant(case: Case, train: Curve) -> tuple[float, str]:
    """The loss of a constant answer: the lowest that the loss is not well above; else the first losses."""
    levels = [level for level in case.task.constant_losses if train.tail < 1.1 * level]
    if levels:
        return min(levels), f"the {text(min(levels))} of a constant answer"
    first = float(np.median(train.y[:3]))
    return first, f"the first loss ({text(first)})"


def _run_dropout_drowns(dropout: float, end: float, validation: float, facts: bool = True) -> Run:
    loss = noisy(decay(200, 2.1, end, rate=20), 0.01)
    held_out = (np.arange(10.0) * 20 + 20, noisy([validation] * 10, 0.005))
    entry = {"function": "cross_entropy", "reduction": "mean", "output_shape": "64x7", "target_shape": "64"}
    counts = {"0": 700, "1": 600, "2": 500, "3": 400, "4": 300, "5": 200, "6": 100}
    recorded = {"losses": [entry], "classes": counts} if facts else {}
    return run({"loss": loss, "val/loss": held_out}, settings={"dropout": dropout}, facts=recorded)


def cases() -> Cases:
    yield from attention_by_sgd.fires(_run("SGD", 3e-4))
    yield from attention_by_sgd.silent(_run("AdamW", 3e-4))
    yield from attention_by_sgd.silent(_run("SGD", 0.01))
    yield from attention_by_sgd.silent(_run("SGD", 3e-4, attention=False))
    yield from model_restrained.fires(run({}, facts=_facts([0.1, 0.5])))
    yield from model_restrained.fires(run({"output/backward_ratio": [1.6, 2.0, 3.0]}, facts=_facts([])))
    yield from model_restrained.silent(run({}, facts=_facts([])))
    yield from model_restrained.silent(run({"output/backward_ratio": [1.0, 1.0, 1.0]}, facts=_facts([])))
    yield from model_restrained.silent(run({}, facts=_facts([0.1])))
    yield from model_restrained.silent(run({}, facts=_facts([], 0.01)))
    yield from model_restrained.silent(run({}, facts=_facts([], None)))
    yield from model_restrained.silent(run({}, facts=_facts([], kind="Net")))
    yield from dropout_drowns.fires(_run_dropout_drowns(0.85, 1.75, 1.74))
    yield from dropout_drowns.fires(_run_dropout_drowns(0.7, 1.9, 1.8))
    yield from dropout_drowns.fires(_run_dropout_drowns(0.9, 1.8, 1.8, facts=False))
    yield from dropout_drowns.silent(_run_dropout_drowns(0.5, 1.75, 1.74))
    yield from dropout_drowns.silent(_run_dropout_drowns(0.85, 1.75, 0.9))
    yield from dropout_drowns.silent(_run_dropout_drowns(0.85, 1.1, 1.1))
    yield from dropout_drowns.silent(_run_dropout_drowns(0.8, 0.3, 0.3, facts=False))
