"""Every layer trained: layers that PyTorch does not see, that no optimizer holds, or that are cut off."""

from __future__ import annotations

import ast
from collections.abc import Collection

from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import all_layers, uses_keras
from traindx.experiment.edit.lint_edits import take_edits
from traindx.experiment.edit.nodes import last_name, receiver
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
        argument = layer.keywords.get("trainable")
        if isinstance(argument, Const) and argument.value is False and argument.spot is not None:
            job.draft.replace(argument.spot.node, "True")
            descriptions.append(f"trainable=True in line {argument.spot.line}")
    return sentence(descriptions, "Which layers are not trained cannot be determined from the script.")


def _built_too_early(job: Job) -> str:
    """An optimizer built before a layer was replaced is built after it instead."""
    lost = {id(layer) for layer in _lost(job)}
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
    same_block = binding.spot.source is job.file(call) and job.parent(built) is job.parent(replacing)
    refers = job.draft.text(replacing).startswith(f"{root}.") and root.isidentifier()
    movable = same_block and isinstance(name, ast.Name) and refers and "\n" not in text
    if not movable or _used_between(job.file(call).tree, last_name(name), built, replacing):
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
    if any(_lent(job, owner) for owner in owners):
        raise Uncertain(
            "If this module is meant to learn, give its parameters to an optimizer.", owners[0].spot
        )
    if len(optimizers) > 1:
        return _mistaken(job, optimizers, owners)
    inner = any(
        b.value is owner and b.owner is not None for b in job.training.trace.bindings for owner in owners
    )
    if inner or not _simply_given(job, optimizers[0]):
        return _add_group(job, optimizers[0], owners)
    return _given_too(job, optimizers[0], owners)


def _lost(job: Job) -> list[Value]:
    """Layers that the loss reaches and no optimizer holds, those frozen on purpose left out."""
    trained, still = held(job.training), frozen(job.training)
    return [
        layer
        for backward in job.training.backwards
        if backward.loops and not backward.handed
        for root in [backward.value.args[0] if backward.value.kind == "call" else backward.value.receiver]
        if root is not None
        for layer in reach(root).alive
        if id(layer) not in trained and id(layer) not in still
    ]


def _lent(job: Job, module: Value) -> bool:
    """Whether a module is used but not trained: pretrained, or in eval mode only."""
    ready = isinstance(module, Made) and is_model_library(module.name)
    trained = {id(m) for optimizer in job.optimizers() for m in sources(optimizer)}
    still = any(module in options(e.value.receiver) for e in job.training.trace.methods("eval"))
    return ready or (still and id(module) not in trained)


def _owners(job: Job, layers: list[Value]) -> list[Value]:
    """The outermost modules with a name that hold layers, and hold nothing that is trained already."""
    trained = held(job.training)
    owners: dict[int, Value] = {}
    for layer in layers:
        holders = [b.value for b in job.training.trace.bindings if b.owner is None and _holds(b.value, layer)]
        free = [holder for holder in holders if not any(id(p) in trained for p in [holder, *parts(holder)])]
        complete = [holder for holder in holders if holder not in free]
        chosen = complete[0] if complete and _holds_all(job, complete[0]) else free[0] if free else None
        chosen = chosen or _part(job, layer, trained)
        if chosen is None:
            raise Uncertain(_GIVE, layer.spot)
        owners.setdefault(id(chosen), chosen)
    return list(owners.values())


def _part(job: Job, layer: Value, trained: Collection[int]) -> Value | None:
    """The largest part of a module that holds a layer, and nothing that is trained already."""
    inner = [b.value for b in job.training.trace.bindings if b.owner is not None and _holds(b.value, layer)]
    free = [
        module
        for module in inner
        if not any(id(p) in trained and _layer(p) for p in [module, *parts(module)])
    ]
    return max(free, key=lambda module: len(list(parts(module))), default=None)


def _layer(value: Value) -> bool:
    return isinstance(value, Made) and value.kind == "call" and value.name.startswith("torch.nn.")


def _holds(module: Value, layer: Value) -> bool:
    is_module = isinstance(module, Instance) or (isinstance(module, Made) and module.kind == "call")
    return is_module and (module is layer or any(part is layer for part in parts(module)))


def _holds_all(job: Job, module: Value) -> bool:
    """Whether one module holds everything that the optimizers were given."""
    modules = [m for optimizer in job.optimizers() for m in sources(optimizer)]
    inner = {id(module), *(id(p) for p in parts(module))}
    return bool(modules) and all(id(source) in inner for source in modules)


def _simply_given(job: Job, optimizer: Made) -> bool:
    """Whether an optimizer is given `name.parameters()` and no groups."""
    call = call_of(optimizer)
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) and job.draft.text(first).count("(") == 1


def _add_group(job: Job, made: Made, owners: list[Value]) -> str:
    """Modules as a further group of an optimizer, with the rate of its first."""
    call = call_of(made)
    name, built = job.bound_name(call), job.statement_of(call)
    paths = [path for owner in owners if (path := _path(job, owner, call)) is not None]
    is_complete = any(_holds_all(job, owner) for owner in owners)
    if name is None or len(paths) < len(owners) or is_complete or _frozen_inside(job, owners):
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
    names = [name for owner in owners if (name := _path(job, owner, call)) is not None]
    if len(names) < len(owners):
        raise Uncertain(_GIVE, owners[0].spot)
    complete = [name for name, owner in zip(names, owners, strict=True) if _holds_all(job, owner)]
    trained = {id(part) for m in sources(optimizer) for part in (m, *parts(m))}
    double = any(id(part) in trained for owner in owners for part in (owner, *parts(owner)))
    if _frozen_inside(job, owners) or (double and not complete):
        raise Uncertain(_GIVE, owners[0].spot)
    if complete:
        job.draft.replace(call.args[0], f"{complete[0]}.parameters()")
        return f"The optimizer of line {call.lineno} gets all parameters of {complete[0]}."
    job.draft.wrap(call.args[0], "[*", "".join(f", *{name}.parameters()" for name in names) + "]")
    return f"The optimizer of line {call.lineno} gets the parameters of {', '.join(names)}, too."


def _frozen_inside(job: Job, owners: list[Value]) -> bool:
    still = frozen(job.training)
    return any(id(part) in still for owner in owners for part in (owner, *parts(owner)))


def _mistaken(job: Job, optimizers: list[Made], owners: list[Value]) -> str:
    """Two optimizers over the same module, and one module without: the later one was meant for it."""
    spot = owners[0].spot
    name = job.bound_name(spot.node) if spot is not None else None
    doubles = [
        (optimizer, other)
        for optimizer in optimizers
        for other in optimizers
        if optimizer is not other
        and {id(s) for s in sources(optimizer)} == {id(s) for s in sources(other)}
        and sources(optimizer)
    ]
    if len(owners) != 1 or not doubles or not isinstance(name, ast.Name):
        raise Uncertain("Give these parameters to the optimizer that is meant for them.", owners[0].spot)
    fitting = []
    for optimizer, _ in doubles:
        call = call_of(optimizer)
        bound = job.bound_name(call)
        end = bound.id.lower().rpartition("_")[2] if isinstance(bound, ast.Name) else ""
        if end and (end == name.id.lower() or name.id.lower().startswith(end)):
            fitting.append(optimizer)
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
        alive = {id(layer) for layer in reached.alive} if reached is not None else set()
        for layer, by in reached.cut if reached is not None else ():
            is_defect = id(layer) in trained and id(layer) not in alive | still
            if is_defect and by.kind == "method" and by.name == "detach" and by.spot is not None and cuts(by):
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
