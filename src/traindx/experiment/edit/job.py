"""What an edit is made from: the script, what was recorded of it, its command line, and the draft."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from traindx.core import files
from traindx.core.nouns import Place, Run
from traindx.evidence.inside import facts, number, word
from traindx.experiment.edit.draft import Draft
from traindx.experiment.edit.result import Uncertain
from traindx.source.anchors_of_loop import main_iteration, optimizers
from traindx.source.edit_pieces import statement
from traindx.source.script import Script, Source
from traindx.source.training import Iteration, Training
from traindx.source.values import Made, Spot


@dataclass
class Job:
    """One edit in the making; `texts` are files as an edit before this one has left them."""

    script: Script
    run: Run | None = None
    args: tuple[str, ...] = ()
    cause: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    draft: Draft = field(init=False)
    settled: dict[object, str] = field(default_factory=dict)
    """Settings outside of the code that are changed already, with the words for it: no second time."""

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
        told = self.facts.get("folder")
        return told if isinstance(told, str) and os.path.isdir(told) else os.getcwd()

    def optimizers(self) -> list[Made]:
        """The optimizers that step, with a place of their own in the script."""
        found = [
            one
            for one in optimizers(self.training)
            if one.spot is not None and isinstance(one.spot.node, ast.Call)
        ]
        stepping = {id(o) for step in self.training.steps for o in step.optimizers}
        return self._as_recorded([one for one in found if id(one) in stepping] or found)

    def _as_recorded(self, made: list[Made]) -> list[Made]:
        """Of the optimizers that one call may make by a name, the one that the recording shows."""
        told = [word(one, "class") for one in facts(self.facts.get("optimizers"))]
        found: list[Made] = []
        for one in made:
            ways = [other for other in made if other.spot is not None and other.spot.node is one.spot.node]  # type: ignore[union-attr]
            if one.short == "Optimizer" and len(set(told)) == 1:
                one = replace(one, name=f"torch.optim.{told[0]}")
            if len(ways) == 1 or one.short in told or not any(other.short in told for other in ways):
                found.append(one)
        return found

    def iteration(self) -> Iteration:
        """The loop that trains; raises Uncertain when it cannot be told."""
        found = main_iteration(self.training)
        if found is None:
            raise Uncertain("No training loop can be followed in the script: change it by hand.")
        return found

    def iterations(self) -> list[Iteration]:
        """Every training loop of the script's own run, each once."""
        own = [one for one in self.training.iterations if one.step.event.root is None]
        chosen = own or list(self.training.iterations)
        return list({id(one.step.event.spot.node): one for one in chosen}.values())

    def config(self, path: str) -> str:
        """The text of a configuration as it is by now; raises OSError or ValueError."""
        known = self.draft.configured(path) or self.texts.get(path)
        return known if known is not None else files.read(path).decode("utf-8-sig")

    def recorded(self, name: str) -> list[float]:
        """The values a setting of the optimizers had when it was recorded."""
        found = []
        for one in facts(self.facts.get("optimizers")):
            told = [number(group, name) for group in facts(one.get("groups"))]
            found += [value for value in told if value is not None]
        return found


def written(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """The expression of an argument as it stands in a call."""
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
    """A call's own place; raises Uncertain when it has none."""
    if made.spot is None or not isinstance(made.spot.node, ast.Call):
        raise Uncertain(f"The call of {made.short or made.name} cannot be told.")
    return made.spot.source, made.spot.node


def statement_of(spot: Spot) -> ast.stmt:
    """The statement around a piece; raises Uncertain when there is none."""
    found = statement(spot)
    if found is None:
        raise Uncertain("The statement of this cannot be told.", Place(spot.source.path, spot.line))
    return found


def ancestors(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """What a piece of syntax stands in, from inside out."""
    at = source.parents.get(node)
    while at is not None:
        yield at
        at = source.parents.get(at)


def function_of(source: Source, node: ast.AST) -> ast.AST | None:
    """The function a piece stands in; None at the top of the file."""
    inside = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((one for one in ancestors(source, node) if isinstance(one, inside)), None)


def at(spot: Spot | None) -> Place | None:
    """A spot as a place."""
    return Place(spot.source.path, spot.line) if spot is not None else None
