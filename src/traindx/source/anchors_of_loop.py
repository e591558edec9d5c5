"""Lines of the optimizer, its settings, the loss and the training loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from traindx.source.execution import Binding, CallEvent, Loop
from traindx.source.roles import is_optimizer, is_scaler, is_scheduler
from traindx.source.training import Training
from traindx.source.values import Const, DictValue, ListValue, Made, Spot, Value, number, options

_RATE = re.compile(r"^(base_|max_|init_|initial_|peak_)?(lr|learning_?rate|step_?size|alpha|eta)$", re.I)
LOSS = re.compile(r"loss|objective|cost|criterion", re.I)
_ACCUMULATED = re.compile(r"acc(um)?", re.I)


def origin(value: Value | None) -> Spot | None:
    """Where a value is written: the number itself, if it is one."""
    return next((option.spot for option in options(value) if option.spot is not None), None)


def first(events: Iterable[CallEvent | Binding]) -> Spot | None:
    """Where the first of some calls or assignments is written."""
    return next((event.spot for event in events), None)


def optimizers(training: Training) -> list[Made]:
    """The optimizers the script makes, those that step first."""
    stepping = [
        o for step in training.steps for o in step.optimizers if isinstance(o, Made) and o.kind == "call"
    ]
    constructed = [e.value for e in training.trace.calls if is_optimizer(e.value)]
    keras = [
        e.value for e in training.trace.calls if re.match(r"keras\.optimizers\.(legacy\.)?\w+$", e.value.name)
    ]
    return list(
        {id(optimizer_call): optimizer_call for optimizer_call in [*stepping, *constructed, *keras]}.values()
    )


def optimizer(training: Training) -> Spot | None:
    constructed = optimizers(training)
    if constructed:
        return constructed[0].spot
    return first(training.trace.methods("compile"))


def setting(training: Training, place: int, *names: str) -> Spot | None:
    """Where an argument of the optimizer, or of one of its groups, is written."""
    for optimizer_call in optimizers(training):
        value = optimizer_call.argument(place, *names)
        if value is not None:
            return origin(value)
        groups = optimizer_call.args[0] if optimizer_call.args else None
        for group in groups.items if isinstance(groups, ListValue) else []:
            group_values = (
                [group.items[n] for n in names if n in group.items] if isinstance(group, DictValue) else []
            )
            if group_values:
                return origin(group_values[0])
    return _only_number(training, *names)


def _only_number(training: Training, *names: str) -> Spot | None:
    """The only number of that name in a table or a default, where it could not be followed."""
    spots = [
        Spot(source, value)
        for source in training.script.sources
        for node in ast.walk(source.tree)
        for name, value in _entries(node)
        if name in names and _is_number(value)
    ]
    return spots[0] if len(spots) == 1 else None


def _entries(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and values of a dict, of a call's keywords, of a class that keeps settings."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call):
        for word in node.keywords:
            if word.arg is not None:
                yield word.arg, word.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, or a few of them."""
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(_is_number(element) for element in node.elts)
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)


def lr(training: Training) -> Spot | None:
    spot = setting(training, 1, "lr", "learning_rate")
    if spot is not None:
        return spot
    for event in training.trace.events:
        if event.value.name.endswith("TrainingArguments") and "learning_rate" in event.value.keywords:
            return origin(event.value.keywords["learning_rate"])
    rates = [b for b in training.trace.bindings if _RATE.match(b.name) and number(b.value) is not None]
    return origin(rates[0].value) if rates else optimizer(training)


def momentum(training: Training) -> Spot | None:
    adaptive = any("adam" in call.short.lower() for call in optimizers(training)[:1])
    return setting(training, -1 if adaptive else 2, "momentum", "alpha", "rho") or betas(training)


def betas(training: Training) -> Spot | None:
    return setting(training, -1, "betas", "beta_1", "beta_2")


def eps(training: Training) -> Spot | None:
    return setting(training, -1, "eps", "epsilon")


def weight_decay(training: Training) -> Spot | None:
    return setting(training, -1, "weight_decay")


def backward(training: Training) -> Spot | None:
    return training.main.backwards[0].spot if training.main else first(training.backwards)


def step(training: Training) -> Spot | None:
    return training.main.step.event.spot if training.main else None


def zero_grad(training: Training) -> Spot | None:
    zeros = (training.main.zeros if training.main else ()) or training.zeros
    return zeros[0].event.spot if zeros else None


def scheduler(training: Training) -> Spot | None:
    constructed = (e for e in training.trace.calls if is_scheduler(e.value))
    of_keras = (e for e in training.trace.calls if e.value.name.startswith("keras.optimizers.schedules."))
    return first(constructed) or first(of_keras) or _group_rate(training)


def _group_rate(training: Training) -> Spot | None:
    """A schedule by hand: the rate of a group set in a loop."""
    rate_bindings = (b for b in training.trace.bindings if b.name == "lr" and b.owner is not None and b.loops)
    return first(rate_bindings)


def scheduler_step(training: Training) -> Spot | None:
    return first(training.scheduler_steps) or _group_rate(training)


def warmup(training: Training) -> Spot | None:
    for event in training.trace.events:
        for name, value in event.value.keywords.items():
            if "warmup" in name:
                return origin(value)
    bindings = (b for b in training.trace.bindings if "warmup" in b.name.lower())
    return first(bindings)


def clip(training: Training) -> Spot | None:
    """The largest norm, or value, that gradients may have."""
    for event in training.trace.events:
        if event.value.short.startswith("clip_grad"):
            return origin(event.value.argument(1, "max_norm", "clip_value", "max_value")) or event.spot
    for event in training.trace.events:
        limits = [
            v for n, v in event.value.keywords.items() if n in ("clipnorm", "clipvalue", "gradient_clip_val")
        ]
        if limits:
            return origin(limits[0])
    return None


def accumulation(training: Training) -> Spot | None:
    """The test that decides whether to step; else the backward pass."""
    iteration = training.main
    if iteration is None:
        return None
    step_arms = [arm for arm in iteration.step.event.arms if arm not in iteration.backwards[0].arms]
    divided = (b for b in training.trace.bindings if _ACCUMULATED.search(b.name) and number(b.value))
    if step_arms and isinstance(step_arms[-1].node, ast.If):
        return iteration.backwards[0].spot
    return first(divided) or iteration.backwards[0].spot


def loop(training: Training) -> Spot | None:
    return training.main.loop.spot if training.main else None


def eval_mode(training: Training) -> Spot | None:
    return first(training.trace.methods("eval"))


def train_mode(training: Training) -> Spot | None:
    return first(training.trace.methods("train")) or loop(training)


def precision(training: Training) -> Spot | None:
    """Where half precision comes in."""
    for event in training.trace.events:
        if event.value.short in ("autocast", "half", "bfloat16", "set_default_dtype"):
            return event.spot
        for value in [*event.value.args, *event.value.keywords.values()]:
            if getattr(value, "name", "") in ("torch.float16", "torch.bfloat16", "torch.half"):
                return origin(value)
    return scaler(training)


def scaler(training: Training) -> Spot | None:
    steps = (training_step.event for training_step in training.steps if training_step.scaler is not None)
    constructed = (e for e in training.trace.calls if is_scaler(e.value))
    return first(steps) or first(constructed)


def resume(training: Training) -> Spot | None:
    loads = (
        e for e in training.trace.events if e.value.name in ("load_state_dict", "torch.load", "load_weights")
    )
    return first(loads)


def metric(training: Training) -> Spot | None:
    """What is summed up or printed in the training loop."""
    sums = [b for b in training.trace.bindings if b.added and b.loops and not isinstance(b.value, Const)]
    inner = [b for b in sums if training.main is None or training.in_main_loop(b)]
    return first([b for b in inner if LOSS.search(b.name)]) or first(inner)


def waiting(training: Training) -> Spot | None:
    """What makes each step wait: saving, reading a number back, printing."""
    inner = [e for e in training.trace.events if training.in_main_loop(e) and not e.grad_off]
    for names in (
        ("save", "savez", "savez_compressed"),
        ("item", "cpu", "numpy", "tolist", "synchronize"),
        ("print", "log", "add_scalar"),
    ):
        for event in inner:
            if event.value.short in names:
                return _called_from(event, training.main.loop) if training.main is not None else event.spot
    return None


def _called_from(event: CallEvent, loop: Loop) -> Spot:
    """The call in the loop that leads to what happens in a function written elsewhere."""
    names = {getattr(function, "name", "") for function in event.functions}
    for node in ast.walk(loop.spot.node):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name and name in names and not any(inner is event.spot.node for inner in ast.walk(node)):
                return Spot(loop.spot.source, node)
    return event.spot
