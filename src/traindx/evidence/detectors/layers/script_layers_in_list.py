"""Layers stand in a plain list, tuple or dict of a module, where PyTorch does not see them.

Seen when a module of the script keeps layers or other modules under an attribute as a Python list, tuple or
dict instead of `nn.ModuleList` or `nn.ModuleDict`: `parameters()` leaves them out, so they are not trained,
not moved to the device and not saved.

Silent when the same layers are registered another way too (`nn.Sequential(*self.layers)`, `add_module`), or
their parameters are given to an optimizer by themselves. Known mistake: none yet.
"""

import ast

from traindx.evidence.detectors._script import (
    Detector,
    Edit,
    Finding,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import where
from traindx.source.edit_pieces import place, replaced, segment
from traindx.source.execution import Binding
from traindx.source.flow import parts
from traindx.source.library import is_module_class
from traindx.source.roles import is_module
from traindx.source.values import DictValue, Instance, ListValue, Made, Spot, Value, options

DETECTOR = Detector(title="layers in a plain list", family="script_left_out")


def detect(training: Training) -> Places:
    modules = [one for one in training.trace.instances if is_module_class(one.cls)]
    if not modules:
        return Skipped("a model of the script's own")
    findings: dict[int, Finding] = {}
    for binding in training.trace.bindings:
        owner = binding.owner
        if not isinstance(owner, Instance) or not is_module_class(owner.cls):
            continue
        if _holds_layers(binding.value) and not _registered(training, owner, binding.value):
            findings.setdefault(id(binding.spot.node), _finding(binding))
    return [*findings.values()]


def _layers(value: Value) -> list[Value]:
    """The modules in a plain container."""
    inner = (
        value.items
        if isinstance(value, ListValue)
        else [*value.items.values()]
        if isinstance(value, DictValue)
        else []
    )
    flat = [one for part in inner for one in (part.items if isinstance(part, ListValue) else [part])]
    return [one for part in flat for one in options(part) if is_module(one)]


def _holds_layers(value: Value) -> bool:
    return any(not (isinstance(one, Made) and one.short.endswith("Loss")) for one in _layers(value))


def _registered(training: Training, owner: Instance, value: Value) -> bool:
    """Whether PyTorch learns of the layers in another way."""
    layers = {id(one) for one in _layers(value)}
    modules = [one for one in training.trace.instances if is_module_class(one.cls)]
    kept = [one for module in modules for one in module.attributes.values()]
    others = [one for one in kept if one is not value and one is not owner and not _holds_layers(one)]
    known = {id(part) for one in others for part in [one, *parts(one)]}
    if layers & known:
        return True
    named = training.trace.methods("add_module", "register_module", "super.__setattr__")
    if any(event.value.receiver is owner for event in named) or training.trace.named("setattr"):
        return True
    separate = {id(m) for step in training.steps for o in step.optimizers for m in _sources(o)}
    return bool(layers & separate) or _walked(training, value)


def _sources(optimizer: Value) -> list[Value]:
    from traindx.source.optimizer_sources import sources

    return sources(optimizer)


def _walked(training: Training, value: Value) -> bool:
    """Whether the script asks the layers of the list for their parameters one by one."""
    layers = {id(one) for one in _layers(value)}
    asked = training.trace.methods("parameters", "named_parameters")
    return any(id(one) in layers for event in asked for one in options(event.value.receiver))


def _finding(binding: Binding) -> Finding:
    spot = binding.spot
    kind = "dict" if isinstance(binding.value, DictValue) else "list"
    wrapper = "ModuleDict" if kind == "dict" else "ModuleList"
    text = (
        f"{where(spot)}: `self.{binding.name}` keeps layers in a plain {kind}: parameters() does not see "
        f"them, so no optimizer trains them. nn.{wrapper} does."
    )
    written = spot.node.value if isinstance(spot.node, ast.Assign | ast.AnnAssign) else None
    edits: tuple[Edit, ...] = ()
    if written is not None:
        inner = Spot(spot.source, written)
        one_line = written.lineno == written.end_lineno
        new = f"{_nn(spot)}.{wrapper}({segment(inner)})"
        filled = isinstance(written, ast.ListComp | ast.List | ast.Dict | ast.DictComp)
        edits = replaced(inner, new, "safe") if one_line and filled and _nn(spot) else ()
    return Finding(text, "silent_defect", "high", places=(place(spot),), edits=edits)


def _nn(spot: Spot) -> str:
    """How the file calls torch.nn."""
    text = spot.source.text
    if "import torch.nn as nn" in text or "from torch import nn" in text:
        return "nn"
    return "torch.nn" if "import torch" in text else ""


def fires() -> Scripts:
    yield script(init="self.more = [nn.Linear(16, 16) for _ in range(3)]")
    yield script(init="self.heads = {'a': nn.Linear(16, 2), 'b': nn.Linear(16, 3)}")
    yield script(init="self.more = []\nfor _ in range(2): self.more.append(nn.Linear(16, 16))")


def silent() -> Scripts:
    yield script()
    yield script(init="self.more = nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])")
    yield script(init="layers = [nn.Linear(16, 16)]\nself.layers = layers\nself.net = nn.Sequential(*layers)")
    yield script(init="self.sizes = [16, 16]\nself.names = {'a': 1}")
    yield script(init="self.losses = [nn.MSELoss(), nn.L1Loss()]")
