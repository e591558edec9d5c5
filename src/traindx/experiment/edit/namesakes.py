"""The one number that goes by a setting's name, where the way from it to the optimizer cannot be followed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.experiment.edit import configs
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.nodes import last_name
from traindx.experiment.edit.paths import file_of
from traindx.source.values import Const, Spot

_ALSO = {"lr": ("learning_rate",), "learning_rate": ("lr",)}


def namesake(job: Job, name: str) -> Const | tuple[str, tuple[str | int, ...]] | None:
    """A literal, or a file and the keys in it: the only one with the name and the value that was recorded."""
    recorded = job.recorded(name)
    names = (name, *_ALSO.get(name, ()))
    is_given = any(re.search(rf"(^|[-._+]){alias}(=|$)", word) for word in job.args for alias in names)
    if len(set(recorded)) != 1 or job.training.scheduler_steps or is_given:
        return None
    literals = [literal for literal in _literals(job, names) if literal.value == recorded[0]]
    settings = [keys for keys, value in _settings(job, names) if value == recorded[0]]
    if len(literals) + len(settings) != 1:
        return None
    return literals[0] if literals else settings[0]


def _literals(job: Job, names: tuple[str, ...]) -> Iterator[Const]:
    """Numbers under a key of a dict, or bound to a name, an attribute or a field of a class."""
    for source in job.script.sources:
        for node in ast.walk(source.tree):
            pairs: list[tuple[object, ast.expr | None]] = []
            if isinstance(node, ast.Dict):
                pairs = [(getattr(k, "value", None), v) for k, v in zip(node.keys, node.values, strict=True)]
            elif isinstance(node, ast.AnnAssign):
                pairs = [(last_name(node.target), node.value)]
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                pairs = [(last_name(node.targets[0]), node.value)]
            for key, value in pairs:
                number = getattr(value, "value", None) if isinstance(value, ast.Constant) else None
                plain = isinstance(number, int | float) and not isinstance(number, bool)
                if key in names and plain and value is not None:
                    yield Const(Spot(source, value), number)


def _settings(
    job: Job, names: tuple[str, ...]
) -> Iterator[tuple[tuple[str, tuple[str | int, ...]], float | int]]:
    """Numbers under a name in the files that the script reads its settings from."""
    loads = [e.value for e in job.training.trace.events if configs.LOADERS.search(e.value.name)]
    paths = {file_of(job, load.args[0]) for load in loads if load.args}
    for path in sorted(path for path in paths if path is not None):
        try:
            tree = configs.parsed(path, job.config(path))
        except (OSError, ValueError):
            continue
        for keys, value in configs.leaves(tree):
            if keys and keys[-1] in names and isinstance(value, int | float) and not isinstance(value, bool):
                yield (path, keys), value
