"""What the loss is given: the model's raw output, without a softmax or sigmoid that is in the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.calls import without
from traindx.experiment.edit.changes import Maker
from traindx.experiment.edit.job import Job, at
from traindx.experiment.edit.lint_edits import findings, take
from traindx.experiment.edit.result import Uncertain
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


def pass_logits(job: Job, values: Mapping[str, Scalar]) -> str:
    del values
    losses = [x for x in job.training.losses if x.kind in _TAKES_LOGITS]
    spots = _activations(losses, _BOUNDED)
    if spots:
        return _dropped(job, spots, probabilities=True)
    seen = [one for one in findings(job, "script_activation_missing") if one.edits]
    if seen:
        for one in seen:
            take(job.draft, one.edits)
        return "The loss that takes raw outputs is used: " + seen[0].text
    logged = _activations([x for x in job.training.losses if x.kind in ("nll_loss", "kl_div")], {"softmax"})
    if logged:
        return "; ".join(dict.fromkeys(_logarithm(job, one) for one in logged)) + "."
    raise Uncertain("No softmax or sigmoid before a loss that applies it itself can be told in the script.")


def _logarithm(job: Job, made: Made) -> str:
    """softmax before a loss of log-probabilities becomes log_softmax."""
    spot = activation_spot(made)
    assert spot is not None
    node = spot.node
    for user in _users(job, node):
        if operation(user) not in _ORDER | {"nll_loss", "kl_div"}:
            raise Uncertain("This line uses the probabilities: apply exp() here.", at(user.spot))
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        raise Uncertain("Use log_softmax here.", at(spot))
    new = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}.get(node.func.attr)
    if new is None:
        raise Uncertain("Use log_softmax here.", at(spot))
    _, end = job.draft.span(spot.source, node.func)
    job.draft.splice(spot.source, (end - len(node.func.attr), end), new)
    return f"{node.func.attr} -> {new} in line {spot.line}"


def drop_output_activation(job: Job) -> str:
    """The bound that keeps outputs from reaching the targets of a regression, taken out."""
    losses = [
        x for x in job.training.losses if x.kind in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
    ]
    spots = _activations(losses, {"sigmoid", "tanh", "softmax", "relu", "softplus"})
    if not spots:
        raise Uncertain("No activation before the loss can be told in the script.")
    return _dropped(job, spots, probabilities=False)


def _activations(losses: list[LossCall], kinds: set[str]) -> list[Made]:
    """The activation before each loss, when every way to the loss passes through one."""
    found: dict[int, Made] = {}
    for loss in losses:
        ways = [unshaped(one) for one in options(unshaped(loss.given))]
        if not ways or not all(operation(way) in kinds for way in ways):
            continue
        for way in ways:
            spot = activation_spot(way) if isinstance(way, Made) else None
            if isinstance(way, Made) and spot is not None:
                found.setdefault(id(spot.node), way)
    return list(found.values())


def _dropped(job: Job, made: list[Made], *, probabilities: bool) -> str:
    told = []
    for one in made:
        spot = activation_spot(one)
        assert spot is not None
        if probabilities:
            told += _other_uses(job, one, spot.node)
        told.insert(0, _take_out(job, one, spot))
    return "; ".join(dict.fromkeys(told)) + "."


def _take_out(job: Job, made: Made, spot: Spot) -> str:
    source, node = spot.source, spot.node
    name = operation(made)
    if made.kind == "apply":
        return _layer_out(job, source, node, name)
    inner: ast.expr | None = None
    if isinstance(node, ast.Call) and made.kind == "method" and isinstance(node.func, ast.Attribute):
        inner = node.func.value
    elif isinstance(node, ast.Call) and node.args:
        inner = node.args[0]
    if inner is None:
        raise Uncertain(f"Take the {name} of this line out.", at(spot))
    text = job.draft.text(source, inner)
    around = source.parents.get(node)
    bare = isinstance(around, ast.Return | ast.Assign | ast.keyword) or isinstance(
        inner, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant
    )
    job.draft.replace(source, node, text if bare else f"({text})")
    return f"the {name} in line {spot.line} is taken out"


def _layer_out(job: Job, source: Source, node: ast.AST, name: str) -> str:
    """A layer of a sequence left out; one that has a name of its own does nothing."""
    around = source.parents.get(node)
    line = getattr(node, "lineno", 0)
    if isinstance(around, ast.Call) and node in around.args and len(around.args) > 1 and _is_sequence(around):
        new = without(job.draft.text(source, around), [around.args.index(node)])
        if new is not None and not _indexed(source, around):
            job.draft.rewrite(source, around, new)
            return f"the {name} in line {line} is taken out"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        front = job.draft.text(source, node.func.value)
        job.draft.replace(source, node, f"{front}.Identity()")
        return f"the {name} in line {line} does nothing any more"
    raise Uncertain(f"Take the {name} of this line out.", at(Spot(source, node)))


def _is_sequence(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name == "Sequential"


def _indexed(source: Source, call: ast.Call) -> bool:
    """Whether layers of a sequence are asked for by number from its end."""
    del call
    return any(
        isinstance(n, ast.Subscript) and isinstance(n.slice, ast.UnaryOp) and isinstance(n.ctx, ast.Store)
        for n in ast.walk(source.tree)
    )


def _other_uses(job: Job, made: Made, node: ast.AST) -> list[str]:
    """What else is done with the probabilities: thresholds are moved, the unknown makes it uncertain."""
    told = []
    for user in _users(job, node):
        if user.kind == "operator" and user.name in ("Gt", "GtE", "Lt", "LtE"):
            told.append(_threshold(job, made, user))
        elif operation(user) == "round":
            told.append(_rounded(job, made, user))
        elif operation(user) not in _ORDER | _AGAIN:
            raise Uncertain(
                f"This line uses the probabilities: take the {operation(made)} out before the loss only, "
                "and apply it here.",
                at(user.spot),
            )
    return told


def _users(job: Job, node: ast.AST) -> Iterator[Made]:
    """Every value computed straight from an activation's output, losses of logits left out."""
    seen: set[int] = set()
    waiting: list[Value] = []
    for event in job.training.trace.events:
        waiting.append(event.value)
    waiting += [b.value for b in job.training.trace.bindings]
    calls = {id(e.value): e for e in job.training.trace.events}
    told: set[int] = set()
    while waiting and len(seen) < 50_000:
        at_value = waiting.pop()
        if id(at_value) in seen:
            continue
        seen.add(id(at_value))
        before = parents(at_value)
        waiting += before
        if not isinstance(at_value, Made) or not any(_comes_from(one, node) for one in before):
            continue
        called = calls.get(id(at_value))
        loss = loss_call(called) if called is not None else None
        harmless = at_value.kind == "apply" and _passes(at_value, node)
        if (
            (loss is not None and loss.kind in _TAKES_LOGITS | {"nll_loss", "kl_div"})
            or _passing(at_value)
            or harmless
        ):
            continue
        if at_value.spot is None or id(at_value.spot.node) in told:
            continue
        told.add(id(at_value.spot.node))
        yield at_value


def _passes(made: Made, node: ast.AST) -> bool:
    """The layer itself, at its own call."""
    spot = activation_spot(made)
    return spot is not None and spot.node is node


def _passing(made: Made) -> bool:
    return (
        operation(made) in _PASSED_ON
        or (made.kind == "item")
        or made.name in ("len", "print", "tuple", "list")
    )


def _comes_from(value: Value, node: ast.AST, depth: int = 20) -> bool:
    """Whether a value is an activation's output, perhaps reshaped."""
    for _ in range(depth):
        if isinstance(value, Either):
            return any(_comes_from(one, node, depth - 1) for one in value.options)
        if not isinstance(value, Made):
            return False
        spot = activation_spot(value) if operation(value) in _BOUNDED else None
        if spot is not None and spot.node is node:
            return True
        if not _passing(value) or value.receiver is None:
            return False
        value = value.receiver
    return False


def _threshold(job: Job, made: Made, user: Made) -> str:
    """`p > 0.5` becomes `logit > 0`."""
    node = user.spot.node if user.spot is not None else None
    limits = [one for one in user.args if isinstance(one, Const) and number(one) is not None]
    plain = isinstance(node, ast.Compare) and len(node.ops) == 1
    if operation(made) != "sigmoid" or len(limits) != 1 or number(limits[0]) != 0.5 or not plain:
        raise Uncertain("This compares probabilities: apply the activation here.", at(user.spot))
    assert user.spot is not None
    inside = limits[0].spot
    if inside is None or not any(one is inside.node for one in ast.walk(user.spot.node)):
        raise Uncertain("This compares probabilities: apply the activation here.", at(user.spot))
    job.draft.replace(user.spot.source, inside.node, "0.0")
    return f"the threshold in line {user.spot.line} is 0 for logits"


def _rounded(job: Job, made: Made, user: Made) -> str:
    """`p.round()` becomes `(logit > 0).float()`."""
    node = user.spot.node if user.spot is not None else None
    if operation(made) != "sigmoid" or not isinstance(node, ast.Call) or user.spot is None:
        raise Uncertain("This rounds probabilities: apply the activation here.", at(user.spot))
    inner = node.func.value if user.kind == "method" and isinstance(node.func, ast.Attribute) else None
    if user.kind == "call" and len(node.args) == 1:
        inner = node.args[0]
    if inner is None:
        raise Uncertain("This rounds probabilities: apply the activation here.", at(user.spot))
    text = job.draft.text(user.spot.source, inner)
    job.draft.replace(user.spot.source, node, f"({text} > 0).float()")
    return f"line {user.spot.line} rounds at a logit of 0"


MAKERS: dict[str, Maker] = {"pass_logits": pass_logits}
