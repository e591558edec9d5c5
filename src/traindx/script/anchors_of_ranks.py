"""Lines of trainings in several processes: the wrapper of the model, work that depends on the rank."""

from __future__ import annotations

import ast
import re

from traindx.script.training import Training
from traindx.script.values import Spot

_WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DDP", "FSDP")
_RANK = re.compile(r"^(global_|local_|node_)?rank$", re.IGNORECASE)
_ONE_SPEAKS = frozenset("print log info save makedirs write add_scalar set_description wandb mlflow".split())


def wrapper(training: Training) -> Spot | None:
    """Where the model is made one of several replicas."""
    made = (e.spot for e in training.trace.events if e.value.kind == "call" and e.value.short in _WRAPPERS)
    return next(made, None)


def by_rank(training: Training) -> Spot | None:
    """Work that one rank does and another does not, telling and saving aside."""
    for source in training.script.sources[:1]:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.IfExp) and _asks_rank(node.test):
                return Spot(source, node)
            if isinstance(node, ast.If) and _asks_rank(node.test) and not _only_tells(node):
                return Spot(source, node)
    return None


def _asks_rank(test: ast.expr) -> bool:
    names = [one.id for one in ast.walk(test) if isinstance(one, ast.Name)]
    names += [one.attr for one in ast.walk(test) if isinstance(one, ast.Attribute)]
    return any(_RANK.match(name) or name == "get_rank" for name in names)


def _only_tells(node: ast.If) -> bool:
    """Whether one rank merely prints, logs or saves."""
    calls = [one.func for part in node.body for one in ast.walk(part) if isinstance(one, ast.Call)]
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}
    return bool(names & _ONE_SPEAKS)
