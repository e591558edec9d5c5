"""What an edit is computed from: the script, its recording, its command line, and the draft."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from traindx.core import files
from traindx.core.facts import facts, number, word
from traindx.core.nouns import Place, Run
from traindx.experiment.edit.draft import Draft
from traindx.experiment.edit.names import assigned, imported, spelled_as
from traindx.experiment.edit.nodes import Nodes
from traindx.experiment.edit.result import Uncertain
from traindx.source.anchors_of_loop import optimizers
from traindx.source.execution import CallEvent
from traindx.source.roles import is_scheduler
from traindx.source.script import Script, Source
from traindx.source.training import Iteration, Training
from traindx.source.values import DictValue, ListValue, Made, Value, options

_LOADERS = ("DataLoader", "StatefulDataLoader")


@dataclass
class Job(Nodes):
    """One edit being written; `texts` are files as an earlier edit has left them."""

    script: Script
    run: Run | None = None
    args: tuple[str, ...] = ()
    cause: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    draft: Draft = field(init=False)
    settled: dict[object, str] = field(default_factory=dict)
    """Settings outside the code that are changed already, with their descriptions."""

    def __post_init__(self) -> None:
        self.draft = Draft(self.script)
        if not self.script.trace.complete:
            raise Uncertain(f"{self.script.main.path} is too large to be followed: change it by hand.")

    @property
    def training(self) -> Training:
        return self.script.training

    @property
    def facts(self) -> dict[str, Any]:
        return dict(self.run.facts) if self.run is not None else {}

    @property
    def folder(self) -> str:
        """Where the script runs."""
        folder = self.facts.get("folder")
        return folder if isinstance(folder, str) and os.path.isdir(folder) else os.getcwd()

    def spelled(self, near: ast.AST, name: str) -> str:
        """`torch.nn.Linear` as the file of a node would write it; `import torch` is added where needed."""
        text = spelled_as(imported(self.file(near)), name)
        if text is None:
            self.draft.add_import(near, f"import {name.partition('.')[0]}")
        return text or name

    def fresh(self, near: ast.AST, stem: str) -> str:
        """A name that neither the file of a node nor the draft uses yet."""
        tree = self.file(near).tree
        used_names = (
            {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | assigned(tree) | self.draft.names
        )
        name, count = stem, 2
        while name in used_names:
            name, count = f"{stem}_{count}", count + 1
        self.draft.names.add(name)
        return name

    def source_at(self, place: Place | None) -> Source | None:
        """The file of the script that a place is in."""
        return next((s for s in self.script.sources if place is not None and s.path == place.file), None)

    def statement_at(self, place: Place | None) -> ast.stmt | None:
        """The statement that begins on the line of a place."""
        source = self.source_at(place)
        if source is None or place is None:
            return None
        nodes = ast.walk(source.tree)
        return next((n for n in nodes if isinstance(n, ast.stmt) and n.lineno == place.line), None)

    def calls(self, test: Callable[[Made], bool]) -> list[CallEvent]:
        """The calls of the script for which a test holds, in the order in which they run."""
        return [e for e in self.training.trace.events if e.value.kind == "call" and test(e.value)]

    def loaders(self) -> list[Made]:
        """The loaders of PyTorch that the script makes."""
        return [e.value for e in self.calls(lambda call: call.short in _LOADERS)]

    def optimizers(self) -> list[Made]:
        """The optimizers that step and are made by a call in the script."""
        calls = [o for o in optimizers(self.training) if o.spot and isinstance(o.spot.node, ast.Call)]
        stepping = {id(o) for step in self.training.steps for o in step.optimizers}
        return self._as_recorded([o for o in calls if id(o) in stepping] or calls)

    def torch_optimizers(self) -> list[Made]:
        """The optimizers of PyTorch; raises Uncertain when there is none."""
        of_torch = [o for o in self.optimizers() if o.name.startswith("torch.optim.")]
        if not of_torch:
            raise Uncertain("No PyTorch optimizer was found in the script.")
        return of_torch

    def _as_recorded(self, candidates: list[Made]) -> list[Made]:
        """Of the optimizers that one call may make by a name, the one that the recording shows."""
        recorded = [word(optimizer, "class") for optimizer in facts(self.facts.get("optimizers"))]
        chosen: list[Made] = []
        for candidate in candidates:
            same_call = [o for o in candidates if o.spot is not None and o.spot.node is candidate.spot.node]  # type: ignore[union-attr]
            if candidate.short == "Optimizer" and len(set(recorded)) == 1:
                candidate = replace(candidate, name=f"torch.optim.{recorded[0]}")
            if (
                len(same_call) == 1
                or candidate.short in recorded
                or not any(o.short in recorded for o in same_call)
            ):
                chosen.append(candidate)
        return chosen

    def schedulers(self) -> list[Made]:
        """The learning-rate schedulers that the script makes."""
        return [e.value for e in self.calls(is_scheduler) if e.value.spot is not None]

    def in_forward(self, node: ast.AST) -> bool:
        """Whether a node is inside a model's own forward pass."""
        return getattr(self.function_of(node), "name", "") in ("forward", "__call__")

    def iteration(self) -> Iteration:
        """The loop that trains; raises Uncertain when none is found."""
        iteration = self.training.main
        if iteration is None:
            raise Uncertain("No training loop was found in the script: change it by hand.")
        if iteration.managed:
            raise Uncertain(
                f"Line {iteration.loop.spot.line} runs the loop: change it there by hand.",
                iteration.loop.spot,
            )
        return iteration

    def iterations(self) -> list[Iteration]:
        """Every training loop of the script's own run, each once."""
        own_iterations = [
            iteration for iteration in self.training.iterations if iteration.step.event.root is None
        ]
        chosen = own_iterations or list(self.training.iterations)
        return list({id(iteration.step.event.spot.node): iteration for iteration in chosen}.values())

    def config(self, path: str) -> str:
        """The current text of a configuration; raises OSError or ValueError."""
        text = self.draft.configured(path) or self.texts.get(path)
        return text if text is not None else files.read(path).decode("utf-8-sig")

    def recorded(self, name: str) -> list[float]:
        """The values that a setting of the optimizers had in the recording."""
        optimizers = facts(self.facts.get("optimizers"))
        values = [number(group, name) for optimizer in optimizers for group in facts(optimizer.get("groups"))]
        return [value for value in values if value is not None]


def once(events: Iterable[CallEvent]) -> list[CallEvent]:
    """Events without those of a place in the source that came before."""
    return list({id(event.spot.node): event for event in events}.values())


def call_of(value: Made) -> ast.Call:
    """The node of a call; raises Uncertain when it has none."""
    if value.spot is None or not isinstance(value.spot.node, ast.Call):
        raise Uncertain(f"The call of {value.short or value.name} was not found in the script.")
    return value.spot.node


def group_values(optimizer: Made, name: str) -> list[Value]:
    """The values that parameter groups of an optimizer give for a setting."""
    first = optimizer.args[0] if optimizer.args else optimizer.keywords.get("params")
    groups = next(iter(options(first)), None)
    tables = groups.items if isinstance(groups, ListValue) else []
    return [table.items[name] for table in tables if isinstance(table, DictValue) and name in table.items]
