"""Inputs brought to mean 0 and deviation 1, by the training data's own numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from traindx.core.facts import facts, word
from traindx.experiment.edit.feeds import NamedInputs, batched, named_inputs
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import all_layers, fits, uses_keras
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.result import Uncertain
from traindx.source.anchors_of_data import dataset, validated
from traindx.source.attributes import lookup
from traindx.source.execution import CallEvent
from traindx.source.parameters import held
from traindx.source.returned import stored
from traindx.source.values import Function, Instance, Made, Value

_WORDS = (
    "Subtract the mean of the training inputs and divide by their deviation, "
    "in training and validation alike."
)
_NO_SCALE = frozenset("Embedding Normalization Rescaling StringLookup TextVectorization".split())


def normalise_inputs(job: Job) -> str:
    """Mean and deviation of the training inputs are taken once, and used for all inputs."""
    if uses_keras(job):
        return _in_keras(job)
    if job.training.trace.methods("fit_transform", "fit"):
        raise Uncertain("The inputs seem to be scaled already: check what reaches the model.")
    train, validation_expressions = _trained(job), _validated(job)
    if train in validation_expressions:  # each part would be scaled by its own numbers
        raise Uncertain(_WORDS, train)
    try:
        first = named_inputs(job, train, _WORDS)
    except Uncertain:
        return _in_place(job, train, validation_expressions)
    validation_inputs = [named_inputs(job, expression, _WORDS) for expression in validation_expressions]
    every: dict[str, NamedInputs] = {}
    for inputs in sorted([first, *validation_inputs], key=lambda inputs: inputs.used.lineno):
        every.setdefault(inputs.name, inputs)
    same_name = any(inputs.name == first.name for inputs in validation_inputs) and every[first.name] is first
    names = dict.fromkeys([first.name, *every])
    return _before_use(job, [every[name] for name in names], first.cut if same_name else "")


def _in_keras(job: Job) -> str:
    """Arrays that fit, evaluate and predict are given by name are scaled before the first fit."""
    scaled = [layer for layer in all_layers(job) if layer.short in _NO_SCALE]
    if scaled:
        raise Uncertain("The inputs are indices, or a layer scales them already.", scaled[0].spot)
    calls = [e for e in job.training.trace.methods("fit", "evaluate", "predict") if e.root is None]
    first = fits(job)[0]
    statement = job.statement_of(first.spot.node)
    names: dict[str, None] = {}
    for event in calls:
        call = call_of(event.value)
        pair = argument_node(call, "validation_data", -1)
        arguments = [argument_node(call, "x", 0), pair.elts[0] if isinstance(pair, ast.Tuple) else pair]
        for node in (argument for argument in arguments if argument is not None):
            if not isinstance(node, ast.Name) or event.spot.source is not first.spot.source:
                raise Uncertain(_WORDS, event.spot)
            names[node.id] = None
    train = getattr(argument_node(call_of(first.value), "x", 0), "id", "")
    if not train or not all(_bound_before(job, name, statement) for name in names):
        raise Uncertain(_WORDS, first.spot)
    mean, spread = job.fresh(statement, "input_mean"), job.fresh(statement, "input_spread")
    axis = f"0 if {train}.ndim == 2 else None"
    job.draft.before(
        statement,
        f"{mean}, {spread} = {train}.mean(axis={axis}), {train}.std(axis={axis})",
        # A feature that never changes stays as it is.
        f"{spread} = {spread} + ({spread} == 0)",
        *(f"{name} = ({name} - {mean}) / {spread}" for name in names),
    )
    return f"{', '.join(names)} scaled by the mean and deviation of {train} before line {statement.lineno}."


def _bound_before(job: Job, name: str, statement: ast.stmt) -> bool:
    """Whether a name is given its value before a statement, in the same function."""
    bound = job.stores(name, job.function_of(statement), job.file(statement))
    return bool(bound) and all(n.lineno < statement.lineno for n in bound)


def _trained(job: Job) -> ast.expr:
    """What the training takes its inputs from."""
    data = dataset(job.training)
    inputs = _of_dataset(data) if data is not None else None
    if inputs is not None:
        return inputs
    loops = [iteration.loop for iteration in job.iterations()]
    for node in _applied(job, lambda event: any(loop in event.loops for loop in loops)):
        if isinstance(node, ast.Subscript | ast.Name) and not batched(job, node):
            return node
    raise Uncertain(_WORDS, data.spot if data is not None else None)


def _applied(job: Job, condition: Callable[[CallEvent], bool]) -> Iterator[ast.expr]:
    """The first argument of each call of a model, outside of models."""
    trained = held(job.training)
    for event in job.training.trace.events:
        node = event.spot.node
        applied = event.value.kind == "apply" and id(event.value.receiver) in trained
        ready = applied and not job.in_forward(node)
        if ready and isinstance(node, ast.Call) and node.args and condition(event):
            yield node.args[0]


def _of_dataset(data: Value) -> ast.expr | None:
    """The inputs that a data set is given: of a TensorDataset, or of a class of the script."""
    if isinstance(data, Made) and data.short == "Subset" and data.args:
        data = data.args[0]
    if isinstance(data, Made) and data.short == "TensorDataset" and data.args:
        call = call_of(data)
        return call.args[0] if call.args else None
    if not isinstance(data, Instance) or data.spot is None or not isinstance(data.spot.node, ast.Call):
        return None
    attribute, stored_name = lookup(data.cls, "__init__"), stored(data, 0)
    method = attribute[0] if attribute is not None else None
    if not isinstance(method, Function) or not stored_name:
        return None
    for node in ast.walk(method.node):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Attribute) and target.attr == stored_name and isinstance(node, ast.Assign):
            names = [parameter.arg for parameter in method.node.args.args]
            inner = [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name) and n.id in names]
            argument = (
                argument_node(data.spot.node, inner[0], names.index(inner[0]) - 1)
                if len(inner) == 1
                else None
            )
            chosen = any(isinstance(n, ast.Subscript) for n in ast.walk(node.value))
            return argument if not chosen else None
    return None


def _validated(job: Job) -> list[ast.expr]:
    """What the model is tried on; raises Uncertain when some of it is not found."""
    validation_data = validated(job.training)
    inputs: list[ast.expr] = []
    if validation_data is not None:
        argument = _of_dataset(validation_data)
        if argument is None:
            raise Uncertain(_WORDS, validation_data.spot)
        inputs.append(argument)
    inputs += [
        expression
        for expression in _applied(job, lambda event: event.grad_off)
        if not batched(job, expression)
    ]
    return inputs + [
        expression
        for expression in _called_alike(job)
        if expression not in inputs and not batched(job, expression)
    ]


def _called_alike(job: Job) -> Iterator[ast.expr]:
    """What the model is called with anywhere, by the name it has in training: also where no way led."""
    loops = [iteration.loop for iteration in job.iterations()]
    trained = [
        *_applied(job, lambda event: any(loop in event.loops for loop in loops) and not event.grad_off)
    ]
    names = {ast.unparse(call.func) for call in map(job.parent, trained) if isinstance(call, ast.Call)}
    files = {id(file): file for file in map(job.file, trained)}
    for file in files.values():
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Call) or not node.args or node.args[0] in trained:
                continue
            if ast.unparse(node.func) in names:
                yield node.args[0]


def _before_use(job: Job, every: list[NamedInputs], cut: str) -> str:
    """All of them where the first is passed on; those that do not exist yet, where they do."""
    train, *other_inputs = every
    if any(inputs.block is not train.block for inputs in other_inputs):
        raise Uncertain(_WORDS, train.bound)
    first = min(every, key=lambda inputs: inputs.ends)
    together = all(inputs.begins < first.ends for inputs in every)
    if not together and any(inputs.ends < train.ends for inputs in other_inputs):
        raise Uncertain(_WORDS, first.used)
    mean, std = _statistics(job, cut or train.name, first.used if together else train.used)
    for inputs in every:
        place = first.used if together else inputs.used
        job.draft.before(place, f"{inputs.name} = ({inputs.name} - {mean}) / {std}")
    names = ", ".join(inputs.name for inputs in every)
    line = (first if together else train).used.lineno
    return f"{names} normalised by the mean and deviation of {cut or train.name} before line {line}."


def _in_place(job: Job, expression: ast.expr, other_expressions: list[ast.expr]) -> str:
    """Tensors without a name, where they are passed to their data sets."""
    start = job.statement_of(expression)
    block = getattr(job.parent(start), "body", [])
    passed = isinstance(job.parent(expression), ast.Call) and isinstance(expression, ast.Call)
    if not passed or not isinstance(start, ast.Assign) or start not in block:
        raise Uncertain(_WORDS, expression)
    nodes = {id(expression)}
    for other_expression in other_expressions:
        statement = job.statement_of(other_expression)
        later = statement in block and block.index(statement) >= block.index(start)
        if not later or id(other_expression) in nodes or not isinstance(other_expression, ast.Call):
            raise Uncertain(_WORDS, other_expression)
        nodes.add(id(other_expression))
    name = job.fresh(start, "train_inputs")
    job.draft.before(start, f"{name} = {job.draft.text(expression)}")
    mean, std = _statistics(job, name, start)
    job.draft.replace(expression, f"({name} - {mean}) / {std}")
    for other_expression in other_expressions:
        job.draft.replace(other_expression, f"({job.draft.text(other_expression)} - {mean}) / {std}")
    return f"The inputs normalised by the mean and deviation of those for training in line {start.lineno}."


def _statistics(job: Job, name: str, place: ast.stmt) -> tuple[str, str]:
    mean, std = job.fresh(place, "input_mean"), job.fresh(place, "input_std")
    job.draft.before(
        place,
        f"{mean}, {std} = {_statistic(job, name, 'mean')}, {_statistic(job, name, 'std')}",
        f"{std}[{std} == 0] = 1",
    )
    return mean, std


def _statistic(job: Job, name: str, statistic: str) -> str:
    """Over the samples; for pictures over the pixels, too."""
    models = facts(job.facts.get("models"))
    kinds = [word(layer, "type") for model in models for layer in facts(model.get("layer_list"))[:1]]
    unseen = not kinds and bool(job.training.trace.named("torch.nn.Embedding"))
    if kinds[:1] == ["Embedding"] or unseen:
        raise Uncertain("The inputs are indices of words or classes: do not scale them.")
    if kinds[:1] == ["Conv2d"]:
        return f"{name}.{statistic}((0, 2, 3)).reshape(1, -1, 1, 1)"
    return f"{name}.{statistic}(0)"
