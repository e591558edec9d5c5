"""The input of the loss: the model's raw output, without a softmax or sigmoid in between."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.experiment.edit.calls import without
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.keras import uses_keras
from traindx.experiment.edit.keras_outputs import fit_to_loss, fit_to_targets
from traindx.experiment.edit.lint_edits import take_edits
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_sources import anything, behind
from traindx.source.flow import activation_spot
from traindx.source.roles import LossCall, loss_call, operation, unshaped
from traindx.source.script import Source
from traindx.source.values import Const, Either, Made, Spot, Value, number, options, parents

_TAKES_LOGITS = {"cross_entropy", "binary_cross_entropy_with_logits"}
_BOUNDED = {"softmax", "sigmoid"}
# What gives the same for logits as for probabilities, as long as the order is kept.
_ORDER = frozenset("argmax topk max argsort sort kthvalue".split())
# Applied to probabilities these were a second mistake; applied to logits they are right.
_AGAIN = frozenset("sigmoid softmax log_softmax".split())
_PASSED_ON = frozenset("detach cpu numpy squeeze view reshape flatten float tolist to clone item".split())


def pass_logits(job: Job) -> str:
    if uses_keras(job):
        return fit_to_loss(job)
    losses = [x for x in job.training.losses if x.kind in _TAKES_LOGITS]
    spots = _activations(losses, _BOUNDED)
    if spots:
        return _dropped(job, spots, probabilities=True)
    texts = take_edits(job, "script_activation_missing")
    if texts:
        return "The loss that takes raw outputs is used: " + texts[0]
    logged = _activations([x for x in job.training.losses if x.kind in ("nll_loss", "kl_div")], {"softmax"})
    if logged:
        return sentence(_logarithm(job, activation) for activation in logged)
    raise Uncertain("No softmax or sigmoid before a loss that applies it itself was found in the script.")


def _logarithm(job: Job, activation: Made) -> str:
    """softmax before a loss of log-probabilities becomes log_softmax."""
    spot = activation_spot(activation)
    assert spot is not None
    node = spot.node
    for user in _users(job, node):
        if operation(user) not in _ORDER | {"nll_loss", "kl_div"}:
            raise Uncertain("This line uses the probabilities: apply exp() here.", user.spot)
    new = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}.get(last_name(node))
    if new is None or not isinstance(node, ast.Call) or receiver(node) is None:
        raise Uncertain("Use log_softmax here.", spot)
    job.draft.rename(node.func, new)
    return f"{last_name(node)} -> {new} in line {spot.line}"


def drop_output_activation(job: Job) -> str:
    """The bound that keeps outputs from reaching the targets of a regression, removed."""
    if uses_keras(job):
        return fit_to_targets(job)
    losses = [
        x for x in job.training.losses if x.kind in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
    ]
    spots = _activations(losses, {"sigmoid", "tanh", "softmax", "relu", "softplus"})
    if not spots:
        raise Uncertain("No activation before the loss was found in the script.")
    return _dropped(job, spots, probabilities=False)


def _activations(losses: list[LossCall], kinds: set[str]) -> list[Made]:
    """The activation before each loss, when every way to the loss passes through one."""
    activations: dict[int, Made] = {}
    for loss in losses:
        ways = [unshaped(option) for option in options(unshaped(loss.given))]
        if not ways or not all(operation(way) in kinds for way in ways):
            continue
        for way in ways:
            spot = activation_spot(way) if isinstance(way, Made) else None
            if isinstance(way, Made) and spot is not None:
                activations.setdefault(id(spot.node), way)
    return list(activations.values())


def _dropped(job: Job, activations: list[Made], *, probabilities: bool) -> str:
    descriptions = []
    for activation in activations:
        spot = activation_spot(activation)
        assert spot is not None
        if probabilities:
            descriptions += _other_uses(job, activation, spot.node)
        descriptions.insert(0, _take_out(job, activation, spot))
    return sentence(descriptions)


def _take_out(job: Job, activation: Made, spot: Spot) -> str:
    node = spot.node
    name = operation(activation)
    if activation.kind == "apply":
        return _layer_out(job, node, name)
    inner = _argument(activation, node)
    if inner is None:
        raise Uncertain(f"Remove the {name} of this line.", spot)
    text = job.draft.text(inner)
    around = job.parent(node)
    bare = isinstance(around, ast.Return | ast.Assign | ast.keyword) or isinstance(
        inner, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant
    )
    job.draft.replace(node, text if bare else f"({text})")
    return f"the {name} in line {spot.line} is removed"


def _argument(call: Made, node: ast.AST) -> ast.expr | None:
    """What a method or a function is applied to."""
    if call.kind == "method":
        return receiver(node)
    return next(iter(node.args), None) if isinstance(node, ast.Call) else None


def _layer_out(job: Job, node: ast.AST, name: str) -> str:
    """A layer of a sequence left out; one that has a name of its own does nothing."""
    around = job.parent(node)
    line = getattr(node, "lineno", 0)
    sequence = last_name(around) == "Sequential" and not _indexed(job.file(node))
    if sequence and isinstance(around, ast.Call) and node in around.args and len(around.args) > 1:
        job.draft.rewrite(around, without(job.draft.text(around), [around.args.index(node)]))
        return f"the {name} in line {line} is removed"
    module = receiver(node)
    if module is not None:
        job.draft.replace(node, f"{job.draft.text(module)}.Identity()")
        return f"the {name} in line {line} does nothing any more"
    raise Uncertain(f"Remove the {name} of this line.", node)


def _indexed(source: Source) -> bool:
    """Whether layers of a sequence are set by their number from its end."""
    return any(
        isinstance(n, ast.Subscript) and isinstance(n.slice, ast.UnaryOp) and isinstance(n.ctx, ast.Store)
        for n in ast.walk(source.tree)
    )


def _other_uses(job: Job, activation: Made, node: ast.AST) -> list[str]:
    """What else uses the probabilities: thresholds are moved, anything unknown makes the edit uncertain."""
    descriptions = []
    for user in _users(job, node):
        if user.kind == "operator" and user.name in ("Gt", "GtE", "Lt", "LtE"):
            descriptions.append(_threshold(job, activation, user))
        elif operation(user) == "round":
            descriptions.append(_rounded(job, activation, user))
        elif operation(user) not in _ORDER | _AGAIN:
            raise Uncertain(
                f"This line uses the probabilities: remove the {operation(activation)} before the loss only, "
                "and apply it here.",
                user.spot,
            )
    return descriptions


def _users(job: Job, node: ast.AST) -> Iterator[Made]:
    """Every value computed straight from an activation's output, losses of logits left out."""
    events = {id(e.value): e for e in job.training.trace.events}
    places: set[int] = set()
    for value in behind(anything(job.training.trace)):
        if not isinstance(value, Made) or not any(_comes_from(parent, node) for parent in parents(value)):
            continue
        event, layer = events.get(id(value)), activation_spot(value) if value.kind == "apply" else None
        loss = loss_call(event) if event is not None else None
        takes_logits = loss is not None and loss.kind in _TAKES_LOGITS | {"nll_loss", "kl_div"}
        itself = layer is not None and layer.node is node
        if takes_logits or itself or _passing(value) or value.spot is None:
            continue
        if id(value.spot.node) not in places:
            places.add(id(value.spot.node))
            yield value


def _passing(value: Made) -> bool:
    return (
        operation(value) in _PASSED_ON
        or (value.kind == "item")
        or value.name in ("len", "print", "tuple", "list")
    )


def _comes_from(value: Value, node: ast.AST, depth: int = 20) -> bool:
    """Whether a value is an activation's output, perhaps reshaped."""
    for _ in range(depth):
        if isinstance(value, Either):
            return any(_comes_from(option, node, depth - 1) for option in value.options)
        if not isinstance(value, Made):
            return False
        spot = activation_spot(value) if operation(value) in _BOUNDED else None
        if spot is not None and spot.node is node:
            return True
        if not _passing(value) or value.receiver is None:
            return False
        value = value.receiver
    return False


def _threshold(job: Job, activation: Made, user: Made) -> str:
    """`p > 0.5` becomes `logit > 0`."""
    spot = user.spot
    limits = [
        argument for argument in user.args if isinstance(argument, Const) and number(argument) is not None
    ]
    half = operation(activation) == "sigmoid" and [number(limit) for limit in limits] == [0.5]
    plain = spot is not None and isinstance(spot.node, ast.Compare) and len(spot.node.ops) == 1
    limit = limits[0].spot if half and plain else None
    if limit is None or spot is None or limit.node not in ast.walk(spot.node):
        raise Uncertain("This compares probabilities: apply the activation here.", spot)
    job.draft.replace(limit.node, "0.0")
    return f"the threshold in line {spot.line} is 0 for logits"


def _rounded(job: Job, activation: Made, user: Made) -> str:
    """`p.round()` becomes `(logit > 0).float()`."""
    inner = _argument(user, user.spot.node) if user.spot is not None else None
    alone = user.spot is not None and len(getattr(user.spot.node, "args", [])) < 2
    if operation(activation) != "sigmoid" or inner is None or user.spot is None or not alone:
        raise Uncertain("This rounds probabilities: apply the activation here.", user.spot)
    text = job.draft.text(inner)
    job.draft.replace(user.spot.node, f"({text} > 0).float()")
    return f"line {user.spot.line} rounds at a logit of 0"
