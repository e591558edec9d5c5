"""One arm of a trial: guarded, seeded, changed as ordered, then run and recorded like any program."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from traindx.intervene import guard, seeds
from traindx.record import launch, program


def begin(orders: Mapping[str, Any]) -> None:
    """Everything that must stand before the program's first line."""
    os.chdir(str(orders["cwd"]))
    guard.begin(orders)
    seeds.begin(orders)


class Refused(Exception):
    """There is nothing to run like this; the message is one line for the user."""


def run(path: str) -> None:
    """Run the program of the orders; its exit code and its output are this process's."""
    with open(path, encoding="utf-8") as file:
        orders: dict[str, Any] = json.load(file)
    begin(orders)
    find = program.find_module if orders.get("module") else program.find_script
    name, *args = orders["program"]
    planned = launch.plan(
        find(name, tuple(args)),
        str(orders["record"]),
        budget=float(orders.get("budget", 0.05)),
        steps=orders.get("steps"),
        internals=bool(orders.get("internals", True)),
        quiet=True,
    )
    launch.run(planned)
