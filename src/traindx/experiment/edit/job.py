"""What an edit is computed from: the script, its recording, its command line, and the draft."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from traindx.core import files
from traindx.core.nouns import Place, Run
from traindx.evidence.inside import facts, number, word
from traindx.experiment.edit.draft import Draft
from traindx.experiment.edit.result import Uncertain
from traindx.source.anchors_of_loop import optimizers
from traindx.source.edit_pieces import statement
from traindx.source.execution import CallEvent
from traindx.source.roles import is_scheduler
from traindx.source.script import Script, Source
from traindx.source.training import Iteration, Training
from traindx.source.values import DictValue, ListValue, Made, Spot, Value, options

_LOADERS = ("DataLoader", "StatefulDataLoader")


@dataclass
class Job:
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

    def source_at(self, place: Place | None) -> Source | None:
        """The file of the script that a place is in."""
        return next((s for s in self.script.sources if place is not None and s.path == place.file), None)

    def statement_at(self, place: Place | None) -> tuple[Source | None, ast.stmt | None]:
        """The file and the statement that begins on the line of a place."""
        source = self.source_at(place)
        nodes = ast.walk(source.tree) if source is not None and place is not None else ()
        line = place.line if place is not None else None
        return source, next((n for n in nodes if isinstance(n, ast.stmt) and n.lineno == line), None)

    def calls(self, test: Callable[[Made], bool]) -> list[CallEvent]:
        """The calls of the script for which a test holds, in the order in which they run."""
        return [e for e in self.training.trace.events if e.value.kind == "call" and test(e.value)]

    def loaders(self) -> list[Made]:
        """The loaders of PyTorch that the script makes."""
        return [e.value for e in self.calls(lambda made: made.short in _LOADERS)]

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

    def _as_recorded(self, made: list[Made]) -> list[Made]:
        """Of the optimizers that one call may make by a name, the one that the recording shows."""
        recorded = [word(optimizer, "class") for optimizer in facts(self.facts.get("optimizers"))]
        chosen: list[Made] = []
        for one in made:
            same_call = [o for o in made if o.spot is not None and o.spot.node is one.spot.node]  # type: ignore[union-attr]
            if one.short == "Optimizer" and len(set(recorded)) == 1:
                one = replace(one, name=f"torch.optim.{recorded[0]}")
            if (
                len(same_call) == 1
                or one.short in recorded
                or not any(o.short in recorded for o in same_call)
            ):
                chosen.append(one)
        return chosen

    def schedulers(self) -> list[Made]:
        """The learning-rate schedulers that the script makes."""
        return [e.value for e in self.calls(is_scheduler)]

    def iteration(self) -> Iteration:
        """The loop that trains; raises Uncertain when none is found."""
        iteration = self.training.main
        if iteration is None:
            raise Uncertain("No training loop was found in the script: change it by hand.")
        if iteration.managed:
            raise Uncertain(
                f"Line {iteration.loop.spot.line} runs the loop: change it there by hand.",
                at(iteration.loop.spot),
            )
        return iteration

    def iterations(self) -> list[Iteration]:
        """Every training loop of the script's own run, each once."""
        own = [one for one in self.training.iterations if one.step.event.root is None]
        chosen = own or list(self.training.iterations)
        return list({id(one.step.event.spot.node): one for one in chosen}.values())

    def config(self, path: str) -> str:
        """The current text of a configuration; raises OSError or ValueError."""
        text = self.draft.configured(path) or self.texts.get(path)
        return text if text is not None else files.read(path).decode("utf-8-sig")

    def recorded(self, name: str) -> list[float]:
        """The values that a setting of the optimizers had in the recording."""
        optimizers = facts(self.facts.get("optimizers"))
        values = [number(group, name) for one in optimizers for group in facts(one.get("groups"))]
        return [value for value in values if value is not None]


def once(events: Iterable[CallEvent]) -> list[CallEvent]:
    """Events without those of a place in the source that came before."""
    return list({id(event.spot.node): event for event in events}.values())


def written(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """The expression that a call gives for an argument."""
    for one in call.keywords:
        if one.arg == name:
            return one.value
    if position < 0:
        return None
    front = call.args[: position + 1]
    if len(front) == position + 1 and not any(isinstance(one, ast.Starred) for one in front):
        return front[position]
    return None


def call_of(made: Made) -> tuple[Source, ast.Call]:
    """The file and the node of a call; raises Uncertain when it has none."""
    if made.spot is None or not isinstance(made.spot.node, ast.Call):
        raise Uncertain(f"The call of {made.short or made.name} was not found in the script.")
    return made.spot.source, made.spot.node


def group_values(optimizer: Made, name: str) -> list[Value]:
    """The values that parameter groups of an optimizer give for a setting."""
    first = optimizer.args[0] if optimizer.args else optimizer.keywords.get("params")
    groups = next(iter(options(first)), None)
    tables = groups.items if isinstance(groups, ListValue) else []
    return [one.items[name] for one in tables if isinstance(one, DictValue) and name in one.items]


def statement_of(spot: Spot) -> ast.stmt:
    """The statement around a piece; raises Uncertain when there is none."""
    around = statement(spot)
    if around is None:
        raise Uncertain(
            "This is not part of a statement: change it by hand.", Place(spot.source.path, spot.line)
        )
    return around


def ancestors(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, from inside out."""
    at = source.parents.get(node)
    while at is not None:
        yield at
        at = source.parents.get(at)


def function_of(source: Source, node: ast.AST) -> ast.AST | None:
    """The function around a node; None at the top of the file."""
    inside = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((one for one in ancestors(source, node) if isinstance(one, inside)), None)


def called(node: ast.AST | None) -> str:
    """The last name of what a call calls, or of a name or attribute; empty for anything else."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def receiver(node: ast.AST | None) -> ast.expr | None:
    """The expression whose method a call calls; None for other nodes."""
    return node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def at(spot: Spot | None) -> Place | None:
    """A spot as a place."""
    return Place(spot.source.path, spot.line) if spot is not None else None
