"""Every layer trained: layers that PyTorch does not see, that no optimizer holds, or that are cut off."""

from __future__ import annotations

import ast
from collections.abc import Collection

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import all_layers, uses_keras
from traindx.experiment.edit.lint_edits import take_edits
from traindx.experiment.edit.nodes import called, receiver
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.scopes import usable
from traindx.source.execution import Binding
from traindx.source.flow import cuts, parts, reach
from traindx.source.library import is_model_library
from traindx.source.optimizer_sources import sources
from traindx.source.parameters import frozen, held
from traindx.source.values import Const, Instance, Made, Spot, Value, options

_GIVE = "Pass the parameters of this layer to the optimizer, too."


def train_all_parameters(job: Job) -> str:
    if uses_keras(job):
        return _unfrozen(job)
    texts = take_edits(job, "script_layers_in_list")
    if texts:
        return "The layers are registered with the module: " + texts[0]
    description = _built_too_early(job) or _left_out(job) or _cut(job)
    if not description:
        raise Uncertain("Which parameters are not trained cannot be determined from the script.")
    return description


def _unfrozen(job: Job) -> str:
    """`trainable = False` of layers of Keras becomes `True`."""
    descriptions = []
    for binding in job.training.trace.bindings:
        off = isinstance(binding.value, Const) and binding.value.value is False
        if binding.name == "trainable" and off and binding.value.spot is not None:
            job.draft.replace(binding.value.spot.node, "True")
            descriptions.append(f"trainable = True in line {binding.value.spot.line}")
    for layer in all_layers(job):
        given = layer.keywords.get("trainable")
        if isinstance(given, Const) and given.value is False and given.spot is not None:
            job.draft.replace(given.spot.node, "True")
            descriptions.append(f"trainable=True in line {given.spot.line}")
    return sentence(descriptions, "Which layers are not trained cannot be determined from the script.")


def _built_too_early(job: Job) -> str:
    """An optimizer built before a layer was replaced is built after it instead."""
    lost = {id(one) for one in _lost(job)}
    events = {id(e.value): e for e in job.training.trace.events}
    for optimizer in job.optimizers():
        built = events.get(id(optimizer))
        late = [
            b
            for b in job.training.trace.bindings
            if id(b.value) in lost and b.owner is not None and built is not None and b.at > built.at
        ]
        if late:
            return _built_after(job, optimizer, late[-1])
    return ""


def _built_after(job: Job, optimizer: Made, binding: Binding) -> str:
    call = call_of(optimizer)
    built, replacing = job.statement_of(call), job.statement_of(binding.spot.node)
    name = job.bound_name(call)
    text = job.draft.text(built)
    root = text.partition("(")[2].partition(".")[0]
    same = binding.spot.source is job.file(call) and job.parent(built) is job.parent(replacing)
    refers = job.draft.text(replacing).startswith(f"{root}.") and root.isidentifier()
    movable = same and isinstance(name, ast.Name) and refers and "\n" not in text
    if not movable or _used_between(job.file(call).tree, called(name), built, replacing):
        raise Uncertain("Build the optimizer after this line.", binding.spot)
    job.draft.remove(built)
    job.draft.after(replacing, text)
    return f"The optimizer is built after line {replacing.lineno}, when the model is complete."


def _used_between(tree: ast.AST, name: str, first: ast.stmt, last: ast.stmt) -> bool:
    span = range((first.end_lineno or first.lineno) + 1, (last.end_lineno or last.lineno) + 1)
    return any(isinstance(n, ast.Name) and n.id == name and n.lineno in span for n in ast.walk(tree))


def _left_out(job: Job) -> str:
    """Modules that the loss trains and no optimizer holds are given to the one that steps."""
    optimizers = job.optimizers()
    lost = _lost(job)
    if not lost:
        return ""
    owners = _owners(job, lost)
    if any(_lent(job, one) for one in owners):
        raise Uncertain(
            "If this module is meant to learn, give its parameters to an optimizer.", owners[0].spot
        )
    if len(optimizers) > 1:
        return _mistaken(job, optimizers, owners)
    inner = any(b.value is one and b.owner is not None for b in job.training.trace.bindings for one in owners)
    if inner or not _simply_given(job, optimizers[0]):
        return _added(job, optimizers[0], owners)
    return _given_too(job, optimizers[0], owners)


def _lost(job: Job) -> list[Value]:
    """Layers that the loss reaches and no optimizer holds, those frozen on purpose left out."""
    trained, still = held(job.training), frozen(job.training)
    return [
        layer
        for backward in job.training.backwards
        if backward.loops and not backward.handed
        for one in [backward.value.args[0] if backward.value.kind == "call" else backward.value.receiver]
        if one is not None
        for layer in reach(one).alive
        if id(layer) not in trained and id(layer) not in still
    ]


def _lent(job: Job, module: Value) -> bool:
    """Whether a module is used but not trained: pretrained, or in eval mode only."""
    ready = isinstance(module, Made) and is_model_library(module.name)
    trained = {id(m) for one in job.optimizers() for m in sources(one)}
    still = any(module in options(e.value.receiver) for e in job.training.trace.methods("eval"))
    return ready or (still and id(module) not in trained)


def _owners(job: Job, layers: list[Value]) -> list[Value]:
    """The outermost modules with a name that hold layers, and hold nothing that is trained already."""
    trained = held(job.training)
    owners: dict[int, Value] = {}
    for layer in layers:
        holders = [b.value for b in job.training.trace.bindings if b.owner is None and _holds(b.value, layer)]
        free = [one for one in holders if not any(id(p) in trained for p in [one, *parts(one)])]
        whole = [one for one in holders if one not in free]
        chosen = whole[0] if whole and _holds_all(job, whole[0]) else free[0] if free else None
        chosen = chosen or _part(job, layer, trained)
        if chosen is None:
            raise Uncertain(_GIVE, layer.spot)
        owners.setdefault(id(chosen), chosen)
    return list(owners.values())


def _part(job: Job, layer: Value, trained: Collection[int]) -> Value | None:
    """The largest part of a module that holds a layer, and nothing that is trained already."""
    inner = [b.value for b in job.training.trace.bindings if b.owner is not None and _holds(b.value, layer)]
    free = [one for one in inner if not any(id(p) in trained and _layer(p) for p in [one, *parts(one)])]
    return max(free, key=lambda one: len(list(parts(one))), default=None)


def _layer(value: Value) -> bool:
    return isinstance(value, Made) and value.kind == "call" and value.name.startswith("torch.nn.")


def _holds(module: Value, layer: Value) -> bool:
    is_module = isinstance(module, Instance) or (isinstance(module, Made) and module.kind == "call")
    return is_module and (module is layer or any(one is layer for one in parts(module)))


def _holds_all(job: Job, module: Value) -> bool:
    """Whether one module holds everything that the optimizers were given."""
    modules = [m for one in job.optimizers() for m in sources(one)]
    inner = {id(module), *(id(p) for p in parts(module))}
    return bool(modules) and all(id(one) in inner for one in modules)


def _simply_given(job: Job, optimizer: Made) -> bool:
    """Whether an optimizer is given `name.parameters()` and no groups."""
    call = call_of(optimizer)
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) and job.draft.text(first).count("(") == 1


def _added(job: Job, made: Made, owners: list[Value]) -> str:
    """Modules as a further group of an optimizer, with the rate of its first."""
    call = call_of(made)
    name, built = job.bound_name(call), job.statement_of(call)
    paths = [path for one in owners if (path := _path(job, one, call)) is not None]
    whole = any(_holds_all(job, one) for one in owners)
    if name is None or len(paths) < len(owners) or whole or _frozen_inside(job, owners):
        raise Uncertain(_GIVE, owners[0].spot)
    optimizer = job.draft.text(name)
    for path in paths:
        group = f'{{"params": {path}.parameters(), "lr": {optimizer}.param_groups[0]["lr"]}}'
        job.draft.after(built, f"{optimizer}.add_param_group({group})")
    return f"The optimizer of line {call.lineno} gets the parameters of {', '.join(paths)}, too."


def _path(job: Job, module: Value, here: ast.Call, deep: int = 4) -> str | None:
    """A module as an expression that holds at another place: a name, or attributes of one."""
    for binding in job.training.trace.bindings:
        if binding.value is not module or not deep:
            continue
        if binding.owner is not None:
            owner = _path(job, binding.owner, here, deep - 1)
            if owner is not None:
                return f"{owner}.{binding.name}"
            continue
        spot, name = binding.spot, ast.Name(binding.name, ast.Load())
        if spot.line <= here.lineno and usable(job, name, spot.node, here):
            return binding.name
    return None


def _given_too(job: Job, optimizer: Made, owners: list[Value]) -> str:
    call = call_of(optimizer)
    names = [name for one in owners if (name := _path(job, one, call)) is not None]
    if len(names) < len(owners):
        raise Uncertain(_GIVE, owners[0].spot)
    whole = [n for n, one in zip(names, owners, strict=True) if _holds_all(job, one)]
    trained = {id(part) for m in sources(optimizer) for part in (m, *parts(m))}
    double = any(id(part) in trained for one in owners for part in (one, *parts(one)))
    if _frozen_inside(job, owners) or (double and not whole):
        raise Uncertain(_GIVE, owners[0].spot)
    if whole:
        job.draft.replace(call.args[0], f"{whole[0]}.parameters()")
        return f"The optimizer of line {call.lineno} gets all parameters of {whole[0]}."
    job.draft.wrap(call.args[0], "[*", "".join(f", *{name}.parameters()" for name in names) + "]")
    return f"The optimizer of line {call.lineno} gets the parameters of {', '.join(names)}, too."


def _frozen_inside(job: Job, owners: list[Value]) -> bool:
    still = frozen(job.training)
    return any(id(part) in still for one in owners for part in (one, *parts(one)))


def _mistaken(job: Job, optimizers: list[Made], owners: list[Value]) -> str:
    """Two optimizers over the same module, and one module without: the later one was meant for it."""
    spot = owners[0].spot
    name = job.bound_name(spot.node) if spot is not None else None
    doubles = [
        (one, other)
        for one in optimizers
        for other in optimizers
        if one is not other
        and {id(s) for s in sources(one)} == {id(s) for s in sources(other)}
        and sources(one)
    ]
    if len(owners) != 1 or not doubles or not isinstance(name, ast.Name):
        raise Uncertain("Give these parameters to the optimizer that is meant for them.", owners[0].spot)
    fitting = []
    for one, _ in doubles:
        call = call_of(one)
        bound = job.bound_name(call)
        end = bound.id.lower().rpartition("_")[2] if isinstance(bound, ast.Name) else ""
        if end and (end == name.id.lower() or name.id.lower().startswith(end)):
            fitting.append(one)
    if len(fitting) != 1:
        raise Uncertain(
            f"Give the parameters of {name.id} to the optimizer that is meant for them.", owners[0].spot
        )
    call = call_of(fitting[0])
    first = call.args[0]
    inner = receiver(first)
    if not isinstance(inner, ast.Name):
        raise Uncertain(f"Give the parameters of {name.id} to this optimizer.", fitting[0].spot)
    job.draft.replace(inner, name.id)
    return f"The optimizer of line {call.lineno} gets the parameters of {name.id} instead of {inner.id}."


def _cut(job: Job) -> str:
    """A detach() inside the model's forward pass is removed."""
    detached: dict[int, Spot] = {}
    trained, still = held(job.training), frozen(job.training)
    for backward in job.training.backwards:
        loss = backward.value.receiver if backward.value.kind == "method" else None
        reached = reach(loss) if loss is not None else None
        alive = {id(one) for one in reached.alive} if reached is not None else set()
        for layer, by in reached.cut if reached is not None else ():
            meant = id(layer) in trained and id(layer) not in alive | still
            if meant and by.kind == "method" and by.name == "detach" and by.spot is not None and cuts(by):
                detached[id(by.spot.node)] = by.spot
    chosen = [s for s in detached.values() if getattr(job.function_of(s.node), "name", "") == "forward"]
    if len(chosen) != 1 or not job.iterations():
        return ""
    spot = chosen[0]
    inner = receiver(spot.node)
    if inner is None:
        return ""
    job.draft.replace(spot.node, job.draft.text(inner))
    return f"detach() in line {spot.line} is removed: the layers before it are trained, too."
