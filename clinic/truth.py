"""What is true of each script of the clinic: `truth.toml` here and in the folders beside it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEALTHY = "healthy"


@dataclass(frozen=True)
class Script:
    """A training and its cause of trouble; `lines` are the lines that may be named as its place.

    Of a text of several lines, the last is meant: those before tell it from others that read the same.
    """

    name: str
    path: Path
    cause: str
    accepts: tuple[str, ...] = ()
    symptom: str = ""
    lines: tuple[str, ...] = ()
    family: str = ""
    fast: bool = False
    launch: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        return self.cause == HEALTHY

    @property
    def case(self) -> str:
        """Its name; of a pair the name both have in common."""
        return self.name.removesuffix("/faulty").removesuffix("/healthy")

    @property
    def right(self) -> frozenset[str]:
        return frozenset({self.cause, *self.accepts})

    def line_numbers(self) -> frozenset[int]:
        """Where the lines of the truth stand in the script as it is now."""
        text = [line.strip() for line in self.path.read_text(encoding="utf-8").splitlines()]
        wanted = [told.split("\n") for told in self.lines]
        return frozenset(
            n for n in range(1, len(text) + 1) for told in wanted if text[max(0, n - len(told)) : n] == told
        )


def tables(root: Path = HERE) -> dict[str, dict[str, dict[str, Any]]]:
    """The tables of all truth files: folder -> name -> what is true."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for file in [root / "truth.toml", *sorted(root.glob("*/truth.toml"))]:
        if file.exists():
            for folder, cases in tomllib.loads(file.read_text(encoding="utf-8")).items():
                found.setdefault(folder, {}).update(cases)
    return found


def scripts(root: Path = HERE) -> list[Script]:
    """Every script; a case that is a folder is two of them, its faulty one first."""
    found = []
    for folder, cases in tables(root).items():
        for name, told in cases.items():
            place = root / folder / name
            if place.is_dir():
                case = name if folder == "pairs" else f"{folder}/{name}"
                twin = {key: told[key] for key in ("family", "fast", "launch") if key in told}
                found.append(_script(f"{case}/faulty", place / "faulty.py", told))
                found.append(_script(f"{case}/healthy", place / "healthy.py", {**twin, "cause": HEALTHY}))
            else:
                found.append(_script(f"{folder}/{name}", root / folder / f"{name}.py", told))
    return found


def _script(name: str, path: Path, told: dict[str, Any]) -> Script:
    return Script(
        name=name,
        path=path,
        cause=told["cause"],
        accepts=tuple(told.get("accepts", ())),
        symptom=told.get("symptom", ""),
        lines=tuple("\n".join(map(str.strip, line.split("\n"))) for line in told.get("lines", ())),
        family=told.get("family", ""),
        fast=bool(told.get("fast", False)),
        launch=tuple(told.get("launch", ())),
    )
