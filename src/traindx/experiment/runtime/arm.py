"""One arm of a trial: a program under changes, in this process and in those it starts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from traindx.experiment.runtime import seeds
from traindx.experiment.runtime.change import Change
from traindx.experiment.runtime.change_log import ChangeBroke
from traindx.experiment.runtime.hooks import ChangedTraining
from traindx.experiment.sandbox import guard
from traindx.observe import folder, launch
from traindx.observe.children import ORDERS
from traindx.observe.import_hook import when_imported
from traindx.observe.keras.process import KerasTraining
from traindx.observe.program import NoProgram, find_module, find_script

_begun = False


class Refused(Exception):
    """There is nothing to run like this; the message is one line for the user."""


def read(path: str) -> dict[str, Any]:
    """The orders of an arm, with its changes checked."""
    try:
        orders = json.loads(Path(path).read_text(encoding="utf-8"))
        program = orders["program"]
        orders["changes"] = [Change.from_json(document) for document in orders.get("changes", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{path} holds no orders for an arm ({error}).") from None
    if not program or not all(isinstance(word, str) for word in program):
        raise Refused(f"{path}: 'program' is a list of words, like ['train.py', '--epochs', '3'].")
    return orders  # type: ignore[no-any-return]


def begin(orders: Mapping[str, Any]) -> None:
    """Everything that must be in place before the program's first line; once in a process."""
    global _begun
    if _begun:
        return
    _begun = True
    guard.begin(orders)
    seeds.begin(orders)
    training = ChangedTraining(orders["changes"])
    training.announce()
    if any(change.id == "save_weights" for change in orders["changes"]):
        KerasTraining.keeps_models = True

    def arrived(torch: ModuleType) -> None:
        del torch
        try:
            training.install()
        except Exception as error:
            raise ChangeBroke(
                f"traindx: no change could be made ({type(error).__name__}: {error})."
            ) from error

    when_imported("torch", arrived)


def begin_child() -> None:
    """In a process that the program has started: the same."""
    path = os.environ.get(ORDERS)
    if path and not _begun:
        begin(read(path))


def run(path: str) -> None:
    """The program, recorded and changed; its output and exit code are its own."""
    orders = read(path)
    os.environ[ORDERS] = os.path.abspath(path)
    record = os.path.abspath(orders["record"])
    if orders.get("cwd"):
        os.chdir(orders["cwd"])
    begin(orders)
    name, *args = orders["program"]
    find = find_module if orders.get("module") else find_script
    steps, internals = orders.get("steps"), bool(orders.get("internals", True))
    budget = float(orders.get("budget", 0.05))
    options = ["--quiet", "--out", record, "--budget", str(budget)]
    options += ["--steps", str(steps)] if steps else []
    options += [] if internals else ["--no-internals"]
    try:
        planned = launch.plan(
            find(name, tuple(args)),
            record,
            budget=budget,
            steps=steps,
            internals=internals and budget > 0,
            quiet=True,
            options=tuple(options),
        )
    except (NoProgram, folder.Taken) as error:
        raise Refused(str(error)) from None
    launch.run(planned)
