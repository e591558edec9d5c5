"""Settings of the optimizer."""

from collections.abc import Iterator
from dataclasses import replace

from traindx.core.facts import Fact, facts, number
from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Place, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._script import Training, place, script
from traindx.evidence.detectors._settings import keys_of, optimizer_family, written
from traindx.source.roles import is_optimizer
from traindx.source.values import Const
from traindx.source.values import number as constant
from traindx.testing.sketch import run

# A memory of fifty steps and more.
_LONG = 0.979
_ADAMS = ("Adam", "NAdam", "RAdam", "Adamax")


@Detector("SGD without momentum", needs=("setting:optimizer",), family="optimizer")
def config_plain_sgd(case: Case, *, strength_if_unnamed: float = 0.6) -> Detected:
    """The optimizer is SGD without momentum.

    Full when the configuration sets momentum to 0, weaker when it names none: the common libraries then
    use 0.

    Known mistakes: momentum set in the script and left out of the configuration.
    """
    if optimizer_family(case) != "sgd" or "momentum" in case.word("optimizer"):
        return None
    momentum = case.number("momentum")
    if momentum:
        return None
    configured = momentum is not None
    return Finding(
        text="The optimizer is SGD with momentum 0."
        if configured
        else "The optimizer is SGD and the configuration names no momentum, which is 0 by default.",
        strength=1.0 if configured else strength_if_unnamed,
        numbers={"optimizer": "sgd", "momentum": 0.0},
    )


@Detector(
    "Odd momentum, beta or epsilon",
    needs=("setting:momentum|setting:beta1|setting:beta2|setting:eps",),
    family="momentum",
)
def config_momentum_odd(
    case: Case,
    *,
    max_momentum: float = 0.99,
    max_beta1: float = 0.98,
    min_beta2: float = 0.9,
    max_beta2: float = 0.9999,
    min_eps: float = 1e-15,
    max_eps: float = 1e-3,
    step_reach: float = 1.0,
) -> Detected:
    """Momentum, a beta or epsilon of the optimizer lies outside what makes sense.

    Odd is: SGD momentum above {max_momentum} or below 0, or of {max_beta1} or more where a step of the rate,
    multiplied by it, goes further than {step_reach}; beta1 above {max_beta1} or below 0; beta2 below
    {min_beta2}, above {max_beta2}, or not above beta1 (below it the two are exchanged, which Adam's
    convergence forbids: trouble); Adam's epsilon above {max_eps} or below {min_eps}.

    `momentum` counts only for SGD and RMSprop, `eps` only when its key or a recording says that it is the
    optimizer's: both words name other things too (batch norm, a teacher's average, Sinkhorn).
    Known mistakes: a few image models were trained with an epsilon of 0.1 to 1 on purpose.
    """
    family = optimizer_family(case)
    limits = []
    if family in ("sgd", "rmsprop"):
        highest = min(max_momentum, _LONG) if family == "sgd" and _reach(case) > step_reach else max_momentum
        limits.append(("momentum", case.number("momentum"), 0.0, highest))
    elif family or case.number("beta1") is not None:
        limits.append(("beta1", case.number("beta1"), 0.0, max_beta1))
        least = max(min_beta2, case.number("beta1") or 0.0)
        limits.append(("beta2", case.number("beta2"), least, max_beta2))
        if case.inside.optimizers or any("adam" in key or "optim" in key for key in keys_of(case, "eps")):
            limits.append(("eps", case.number("eps"), min_eps, max_eps))
    present = [(name, value, low, high) for name, value, low, high in limits if value is not None]
    if not present:
        return Skipped("the optimizer and its momentum, betas or epsilon")
    settings = {name: value for name, value, _, _ in present}
    if 0.0 < settings.get("beta2", 0.0) < settings.get("beta1", 0.0) < 1.0:
        return Finding(
            f"The optimizer's betas are {settings['beta1']:g} and {settings['beta2']:g}: the second is below "
            "the first, as if they were exchanged.",
            "silent_defect",
            numbers=settings,
            places=written(case, "betas"),
        )
    for name, value, low, high in present:
        side, bound = ("below", low) if value < low else ("above", high)
        equal = name == "beta2" and value == case.number("beta1")
        if low <= value <= high and not equal:
            continue
        phrase = "equal to beta1" if equal else f"{side} the usual {text(bound)}"
        return Finding(
            text=f"The optimizer's {name} is {text(value) if value < 0.99 else f'{value:g}'}, {phrase}.",
            numbers={name: value},
            places=written(case, "betas" if name.startswith("beta") else name),
        )
    return None


def _reach(case: Case) -> float:
    """What the rate comes to once momentum has added up the steps: 1 for the usual 0.1 and 0.9."""
    momentum, rate = case.number("momentum") or 0.0, case.lr_value or 0.0
    return rate / (1 - momentum) if 0 <= momentum < 1 else 0.0


@Detector("High weight decay", needs=("setting:weight_decay",), family="regularisation")
def config_weight_decay_high(
    case: Case, *, adamw: float = 0.3, lion: float = 3.0, coupled_optimizers: float = 0.01
) -> Detected:
    """Weight decay is above what this optimizer is usually given.

    The upper end of what is usual: {adamw} for AdamW and other decoupled decay, {lion} for Lion,
    {coupled_optimizers} for Adam and SGD, where decay is added to the gradient. When the optimizer is not
    known, {adamw}.

    Known mistakes: frameworks that call decoupled decay plain `adam`; decay that is divided by the rate.
    """
    decay = case.number("weight_decay")
    if decay is None:
        return Skipped("weight decay as a number")
    family = optimizer_family(case)
    limit = (
        lion if family == "lion" else coupled_optimizers if family in ("adam", "sgd", "rmsprop") else adamw
    )
    if not decay > limit:
        return None
    return Finding(
        text=f"Weight decay {text(decay)} is {times(decay / limit)} the upper end of what is usual for "
        f"{family or 'most optimizers'} ({text(limit)}).",
        strength=strength(decay, limit, 10 * limit),
        numbers={"weight_decay": decay, "weight_decay_usual": limit},
    )


@Detector("Adam with L2", needs=("fact:optimizers|script|setting:weight_decay",), family="weight_decay_form")
def adam_with_l2(case: Case, training: Training | None = None, *, min_weight_decay: float = 1e-4) -> Detected:
    """Weight decay goes into Adam as an L2 term, where it is divided by the gradients' size like all else.

    A circumstance: weights with large gradients are hardly decayed. `AdamW` decouples the two. Read from the
    optimizers of a recording, else from the script, else from the configuration. Counts from a weight decay
    of {min_weight_decay} on. Silent for AdamW, Adam with `decoupled_weight_decay`, and other optimizers.
    Known mistakes: none; it is rarely what is wrong.
    """
    observers = [list(_recorded(case)), list(_written(training)) if training else [], list(_configured(case))]
    optimizers = next((rows for rows in observers if rows), None)
    if optimizers is None:
        return Skipped("the optimizer and its weight decay")
    for name, decay, places in optimizers:
        if name in _ADAMS and decay >= min_weight_decay:
            sentence = f"{name} adds weight decay {text(decay)} to the gradients; AdamW decouples it."
            return Finding(sentence, numbers={"weight_decay": decay}, places=places)
    return None


def _recorded(case: Case) -> Iterator[tuple[str, float, tuple[Place, ...]]]:
    for optimizer in case.inside.optimizers:
        decays = [_decay(group) for group in facts(optimizer.get("groups"))]
        yield str(optimizer.get("class")), max(decays, default=0.0), ()


def _decay(group: Fact) -> float:
    return 0.0 if group.get("decoupled_weight_decay") is True else number(group, "weight_decay") or 0.0


def _written(training: Training) -> Iterator[tuple[str, float, tuple[Place, ...]]]:
    """The optimizers that a script builds; a decay that is not written as a number counts as none."""
    for event in training.trace.calls:
        if not is_optimizer(event.value):
            continue
        decoupled = event.value.keywords.get("decoupled_weight_decay")
        plain = decoupled is None or (isinstance(decoupled, Const) and decoupled.value is False)
        decay = constant(event.value.argument(4, "weight_decay")) if plain else None
        yield event.value.short, decay or 0.0, (place(event.spot),)


def _configured(case: Case) -> Iterator[tuple[str, float, tuple[Place, ...]]]:
    decay, optimizer = case.number("weight_decay"), case.word("optimizer").rpartition(".")[2]
    if decay is not None and optimizer:
        name = next((name for name in _ADAMS if name.lower() == optimizer), optimizer)
        yield name, decay, ()


def cases() -> Cases:
    yield from config_plain_sgd.fires(run({}, settings={"optimizer": "sgd", "momentum": 0.0}))
    yield from config_plain_sgd.fires(run({}, settings={"optimizer": "torch.optim.SGD"}))
    yield from config_plain_sgd.silent(run({}, settings={"optimizer": "sgd", "momentum": 0.9}))
    yield from config_plain_sgd.silent(run({}, settings={"optimizer": "adamw"}))
    yield from config_plain_sgd.silent(run({}, settings={"optimizer": "sgd_momentum"}))
    yield from config_momentum_odd.fires(run({}, settings={"momentum": 0.999, "optimizer": "sgd"}))
    yield from config_momentum_odd.fires(run({}, settings={"momentum": 0.99, "lr": 0.05, "optimizer": "sgd"}))
    yield from config_momentum_odd.fires(
        run({}, settings={"beta1": 0.999, "beta2": 0.9999, "optimizer": "adamw"})
    )
    yield from config_momentum_odd.fires(run({}, settings={"beta1": 0.9, "beta2": 0.5}))
    odd_eps = run({}, settings={"beta1": 0.9, "eps": 0.1, "optimizer": "adam"})
    yield from config_momentum_odd.fires(
        replace(odd_eps, config={"adam_epsilon": 0.1}),
        replace(odd_eps, config={"eps": 0.1}, facts={"optimizers": [{"class": "Adam"}]}),
    )
    yield from config_momentum_odd.silent(
        run({}, settings={"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "optimizer": "adamw"}),
        run({}, settings={"momentum": 0.996}),
        run({}, settings={"momentum": 0.99, "optimizer": "sgd"}),
        run({}, settings={"momentum": 0.99, "lr": 0.003, "optimizer": "sgd"}),
        run({}, settings={"momentum": 0.9, "lr": 0.5, "optimizer": "sgd"}),
        run({}, settings={"beta1": 0.0, "beta2": 0.9, "optimizer": "adam"}),
        replace(run({}, settings={"eps": 0.05}), config={"epsilon": 0.05}),
    )
    yield from config_weight_decay_high.fires(run({}, settings={"weight_decay": 1.0, "optimizer": "adamw"}))
    yield from config_weight_decay_high.fires(run({}, settings={"weight_decay": 0.1, "optimizer": "sgd"}))
    yield from config_weight_decay_high.fires(run({}, settings={"weight_decay": 1.0}))
    yield from config_weight_decay_high.silent(
        run({}, settings={"weight_decay": 0.1, "optimizer": "adamw_torch"})
    )
    yield from config_weight_decay_high.silent(run({}, settings={"weight_decay": 5e-4, "optimizer": "sgd"}))
    yield from config_weight_decay_high.silent(run({}, settings={"weight_decay": 1.0, "optimizer": "lion"}))
    yield from config_weight_decay_high.silent(run({}, settings={"weight_decay": 0.1}))
    yield from adam_with_l2.fires(
        run({}, facts={"optimizers": [{"class": "Adam", "groups": [{"lr": 1e-3, "weight_decay": 0.01}]}]}),
        run({}, settings={"optimizer": "torch.optim.Adam", "weight_decay": 0.01}),
        script(optimizer="torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.01)"),
    )
    yield from adam_with_l2.silent(
        run({}, facts={"optimizers": [{"class": "AdamW", "groups": [{"lr": 1e-3, "weight_decay": 0.01}]}]}),
        run({}, facts={"optimizers": [{"class": "Adam", "groups": [{"lr": 1e-3, "weight_decay": 0}]}]}),
        run({}, settings={"optimizer": "adamw", "weight_decay": 0.01}),
        script(optimizer="torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)"),
        script(),
    )
