"""The loss in the script."""

import ast
from collections.abc import Iterator

from traindx.evidence.detector import Cases, Detector
from traindx.evidence.detectors._script import Finding, Places, Script, Skipped, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, sums, where
from traindx.source.edit_pieces import place
from traindx.source.flow import reach
from traindx.source.jax import Scope, jax_sources, own_nodes, scopes, spot, targets
from traindx.source.roles import LossCall
from traindx.source.script import Source, parse_script
from traindx.source.values import Made, Value, number, options

_ORDERED = frozenset(
    "cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div".split()
)
_BODY = "optimizer.zero_grad()\nloss = criterion({}, {})\nloss.backward()\noptimizer.step()"
_KEEPS_SIGN = frozenset({"mean", "sum", "squeeze", "view", "reshape", "flatten", "float"})
_FUNCTIONS = ("torch.nn.functional.cosine_similarity", "torch.cosine_similarity")
_MODULES = ("torch.nn.CosineSimilarity", "torch.nn.modules.distance.CosineSimilarity")
_SIMILAR = "optimizer.zero_grad()\nloss = {}\nloss.backward()\noptimizer.step()"
_COSINE = "F.cosine_similarity(model(x), y, dim=-1).mean()"
_SGD = "torch.optim.SGD(model.parameters(), lr={})"
_SUM = "criterion = nn.CrossEntropyLoss(reduction='sum')"
_DIVIDED = "optimizer.zero_grad()\nloss = criterion(model(x), y) / len(x)\nloss.backward()\noptimizer.step()"
_FACTORS = ("gamma", "discount")


@Detector("predictions and targets swapped", family="script_loss")
def script_loss_arguments_swapped(training: Training) -> Places:
    """Predictions and targets are handed to the loss in the wrong order.

    Seen when the first argument of a loss that is not symmetric (cross-entropy of any kind, KL divergence)
    comes from no layer and the second comes from the model.

    Silent when both come from layers (distillation), or neither does. Known mistake: none yet.
    """
    losses = [x for x in training.losses if x.kind in _ORDERED]
    if not losses:
        return Skipped("a loss of PyTorch whose arguments have an order")
    findings: dict[int, Finding] = {}
    for loss in losses:
        if loss.target is None or reach(loss.given).alive or reach(loss.given).cut:
            continue
        if reach(loss.target).alive and isinstance(loss.given, Made):
            findings.setdefault(id(loss.event.spot.node), _finding(loss))
    return [*findings.values()]


def _finding(loss: LossCall) -> Finding:
    spot = loss.event.spot
    text = (
        f"{where(spot)}: {code(spot)} gets the targets first and what the model gives second; {loss.kind} "
        f"takes predictions first (line {spot.line})."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot),))


@Detector("similarity made smaller", family="loss_form")
def script_similarity_minimised(training: Training) -> Places:
    """A similarity is handed to backward as it is: training makes it smaller.

    Seen when what is backpropagated is a cosine similarity or the log-probability of a distribution,
    averaged or summed and nothing else: no minus, no `1 -`, no other term, no weight. The optimizer then
    drives apart what belongs together.

    Silent for sums with other terms (negatives are pushed apart on purpose), for products (policy
    gradients), and where gradients are turned in the optimizer (`maximize=True`). Known mistakes: a script
    that wants two things unlike and nothing else.
    """
    if not training.backwards:
        return NO_LOOP
    if _maximises(training) or len(training.backwards) != 1:
        return []
    findings: dict[int, Finding] = {}
    for event in training.backwards:
        ends = [_stripped(value) for value in options(loss_of(event))]
        if not ends or any(end is None for end in ends):
            continue
        similarity = next(end for end in ends if end is not None)
        spot = similarity.spot or event.spot
        text = (
            f"{where(spot)}: {code(spot)} is made smaller by every step, for backward gets it with its own "
            "sign: a similarity or a log-probability wants a minus, or `1 -`, before it."
        )
        findings.setdefault(
            id(spot.node), Finding(text, "silent_defect", severity="high", places=(place(spot),))
        )
    return [*findings.values()]


def _stripped(value: Value) -> Made | None:
    """The similarity below means and sums; None when anything else is there."""
    while isinstance(value, Made):
        if value.kind == "call" and value.name in _FUNCTIONS:
            return value
        if value.kind == "apply" and isinstance(value.receiver, Made) and value.receiver.name in _MODULES:
            return value
        if value.kind == "method" and value.name == "log_prob":
            return value
        inner = value.receiver if value.kind == "method" else value.args[0] if value.args else None
        if value.short not in _KEEPS_SIGN or value.kind not in ("method", "call") or inner is None:
            return None
        value = inner
    return None


def _maximises(training: Training) -> bool:
    optimizers = [o for step in training.steps for o in step.optimizers if isinstance(o, Made)]
    return any("maximize" in o.keywords for o in optimizers)


@Detector("summed loss with a usual rate", family="script_reduction")
def script_sum_reduction(training: Training, *, sgd_lr: float = 1e-3) -> Places:
    """The loss sums over the batch, and plain SGD takes its usual rate.

    Seen when what is backpropagated is a loss with `reduction="sum"`, not divided by anything, and the
    optimizer is SGD with a rate of {sgd_lr} or more: the step is as many times larger as the batch has
    samples.

    A sign: what rate is right the source does not show. Silent with optimizers that rescale gradients, and
    where gradients are clipped. Known mistake: a batch of one sample.
    """
    if not training.iterations:
        return NO_LOOP
    if not training.losses:
        return Skipped("a loss function of PyTorch in the script")
    clipped = any("clip_grad" in e.value.name for e in training.trace.events)
    rates = (
        [] if clipped else [rate for o in _sgd(training) if (rate := number(o.argument(1, "lr"))) is not None]
    )
    if not rates or max(rates) < sgd_lr:
        return []
    backward = [loss_of(event) for event in training.backwards]
    findings: dict[int, Finding] = {}
    for loss in training.losses:
        if sums(loss) and any(value is loss.event.value for value in backward):
            spot = loss.setup.spot or loss.event.spot
            text = (
                f"{where(spot)}: {code(spot)} sums over the batch, and SGD has a rate of {max(rates):g}: the "
                "step is as many times larger as a batch has samples."
            )
            findings.setdefault(id(spot.node), Finding(text, places=(place(spot),)))
    return [*findings.values()]


def _sgd(training: Training) -> list[Made]:
    optimizers = [o for step in training.steps for o in step.optimizers]
    return [o for o in optimizers if isinstance(o, Made) and o.name.endswith("optim.SGD")]


@Detector("target differentiated", needs=("script",), family="script_target")
def script_target_differentiated(script: Script) -> Places:
    """The target of a bootstrapped loss is differentiated with the answer: `stop_gradient` is missing.

    Seen in a JAX function that compares `value(params, state)` with `reward + gamma * value(params, next)`,
    both of the same parameters, without `stop_gradient` around the target: the gradient then also moves the
    target towards the answer (the residual gradient), which converges slowly or to something else.

    Silent where another set of parameters gives the target, and without a factor called gamma or discount.
    """
    sources = jax_sources(script)
    if not sources:
        return Skipped("a script that uses JAX")
    return [
        _target_differentiated_finding(source, node)
        for source in sources
        for scope in scopes(source)
        if isinstance(scope, ast.FunctionDef) and "stop_gradient" not in ast.dump(scope)
        for node in _bootstrapped(scope)
    ]


def _bootstrapped(scope: Scope) -> Iterator[ast.AST]:
    """`gamma * value(params, next)` in a function that also asks `value(params, ...)` elsewhere."""
    queries = [_query(node) for node in own_nodes(scope) if isinstance(node, ast.Call)]
    outside = {t.id for node in own_nodes(scope) for t in targets(node) if isinstance(t, ast.Name)}
    parameters = {arg.arg for arg in scope.args.args} if isinstance(scope, ast.FunctionDef) else set()
    for node in own_nodes(scope):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
            continue
        sides = (node.left, node.right)
        discounted = any(isinstance(side, ast.Name) and side.id.lower() in _FACTORS for side in sides)
        inside = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        for call in inside if discounted else ():
            mine = _query(call)
            if mine and mine[1] in parameters - outside and queries.count(mine) > 1:
                yield node
                return


def _query(call: ast.Call) -> tuple[str, str] | None:
    """The function and its first argument, where both are names: `value(params, ...)`."""
    first = call.args[0] if call.args else None
    return (ast.dump(call.func), first.id) if isinstance(first, ast.Name) and len(call.args) > 1 else None


def _target_differentiated_finding(source: Source, node: ast.AST) -> Finding:
    here = spot(source, node)
    text = (
        f"{where(here)}: {code(here)} is part of the target and is differentiated with the answer: put "
        "`jax.lax.stop_gradient` around the target."
    )
    return Finding(text, "silent_defect", "medium", places=(place(here),))


_LOSS = """
import jax
def loss(params, s, r, n):
    target = {target}
    return ((value(params, s) - target) ** 2).mean()
grad = jax.grad(loss)
"""


def cases() -> Cases:
    yield from script_loss_arguments_swapped.fires(
        script(setup="criterion = nn.BCEWithLogitsLoss()", body=_BODY.format("y", "model(x)"))
    )
    yield from script_loss_arguments_swapped.silent(
        script(setup="criterion = nn.BCEWithLogitsLoss()", body=_BODY.format("model(x)", "y")),
        script(setup="criterion = nn.MSELoss()", body=_BODY.format("y", "model(x)")),
        script(
            setup="criterion = nn.KLDivLoss()\nteacher = Net()", body=_BODY.format("model(x)", "teacher(x)")
        ),
    )
    yield from script_similarity_minimised.fires(
        script(body=_SIMILAR.format(_COSINE)),
        script(
            setup="similarity = nn.CosineSimilarity()",
            body=_SIMILAR.format("similarity(model(x), y).mean()"),
        ),
    )
    yield from script_similarity_minimised.silent(
        script(body=_SIMILAR.format("-" + _COSINE)),
        script(body=_SIMILAR.format("1 - " + _COSINE)),
        script(body=_SIMILAR.format("(1 - F.cosine_similarity(model(x), y)).mean()")),
        script(body=_SIMILAR.format("F.mse_loss(model(x), y) + 0.1 * " + _COSINE)),
    )
    yield from script_sum_reduction.fires(script(setup=_SUM, optimizer=_SGD.format(0.1)))
    yield from script_sum_reduction.fires(script(setup=_SUM, optimizer=_SGD.format(0.01)))
    yield from script_sum_reduction.silent(script(optimizer=_SGD.format(0.1)))
    yield from script_sum_reduction.silent(script(setup=_SUM))
    yield from script_sum_reduction.silent(script(setup=_SUM, optimizer=_SGD.format(1e-5)))
    yield from script_sum_reduction.silent(script(setup=_SUM, optimizer=_SGD.format(0.1), body=_DIVIDED))
    yield from script_target_differentiated.fires(
        parse_script(_LOSS.format(target="r + gamma * value(params, n)"))
    )
    yield from script_target_differentiated.silent(
        parse_script(_LOSS.format(target="jax.lax.stop_gradient(r + gamma * value(params, n))")),
        parse_script(_LOSS.format(target="r + gamma * value(frozen, n)")),
        parse_script(_LOSS.format(target="r")),
    )
