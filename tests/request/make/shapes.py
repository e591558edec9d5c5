"""Curves as trainings draw them, with noise, and files as libraries write them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = Mapping[str, Sequence[float] | Floats]
LOGS = Path(__file__).parents[1] / "cases" / "logs"
MAKERS: list[Callable[[], None]] = []


def log(make: Callable[[], None]) -> Callable[[], None]:
    """Registers a maker of one log; it is called after its file."""
    MAKERS.append(make)
    return make


def dice(name: str) -> np.random.Generator:
    """Random numbers of its own for every log, the same every time."""
    return np.random.default_rng(crc32(name.encode()))


def drift(rng: np.random.Generator, n: int, size: float, memory: float = 0.6) -> Floats:
    """Noise that remembers: neighbouring values are alike."""
    kicks = rng.normal(0, size * np.sqrt(1 - memory**2), n)
    out = np.empty(n)
    state = rng.normal(0, size)
    for i, kick in enumerate(kicks):
        state = memory * state + kick
        out[i] = state
    return out


def fall(n: int, start: float, end: float, pace: float, power: float = 1.0) -> Floats:
    """Falls from start towards end; `pace` is the share of the run in which two thirds of it are done."""
    t = np.arange(n) / n
    return end + (start - end) * np.exp(-((t / pace) ** power))


def law(n: int, start: float, end: float, exponent: float = 0.5, offset: float = 3.0) -> Floats:
    """A power law, as language models show."""
    t = (1 + np.arange(n) / offset) ** -exponent
    return end + (start - end) * (t - t[-1]) / (t[0] - t[-1])


def noisy(rng: np.random.Generator, curve: Floats, share: float, memory: float = 0.3) -> Floats:
    """Noise in proportion to the value."""
    return curve * np.exp(drift(rng, len(curve), share, memory))


def cosine(n: int, top: float, warm: int = 0, end: float = 0.0) -> Floats:
    """Linear warm-up, then half a cosine."""
    t = np.clip((np.arange(n) - warm) / max(1, n - warm), 0, 1)
    rate = end + (top - end) * 0.5 * (1 + np.cos(np.pi * t))
    return np.where(np.arange(n) < warm, top * (np.arange(n) + 1) / max(1, warm), rate)


def steps(n: int, every: int, first: int | None = None) -> list[int]:
    return [(every if first is None else first) + every * i for i in range(n)]


def short(value: float, digits: int = 5) -> float | int:
    return int(value) if isinstance(value, int | np.integer) else float(f"{float(value):.{digits}g}")


def rows(columns: Columns) -> list[dict[str, float]]:
    """One dictionary for every row; None where a column has no value there."""
    count = max(len(column) for column in columns.values())
    return [
        {
            name: short(column[i])
            for name, column in columns.items()
            if i < len(column) and column[i] is not None
        }
        for i in range(count)
    ]


def file(name: str) -> Path:
    """Where a log goes; folders are made."""
    path = LOGS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def to_csv(name: str, columns: Columns) -> None:
    with file(name).open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(columns))


def to_jsonl(name: str, columns: Columns) -> None:
    file(name).write_text("".join(json.dumps(row) + "\n" for row in rows(columns)), encoding="utf-8")


def to_history(name: str, columns: Columns) -> None:
    """What `json.dump(history.history, file)` of Keras writes."""
    values = {key: [short(value) for value in column] for key, column in columns.items()}
    file(name).write_text(json.dumps(values), encoding="utf-8")


def to_document(name: str, config: Mapping[str, object], columns: Columns) -> None:
    """One JSON document: the configuration and a list of rows."""
    text = json.dumps({"config": config, "history": rows(columns)}, indent=None)
    file(name).write_text(text, encoding="utf-8")


def to_trainer(name: str, train: Columns, evals: Columns | None = None) -> None:
    """Hugging Face's trainer_state.json; `name` is a folder."""
    history = rows(train) + (rows(evals) if evals else [])
    history.sort(key=lambda row: (row["step"], "eval_loss" in row))
    last = int(history[-1]["step"])
    state = {
        "epoch": history[-1].get("epoch"),
        "global_step": last,
        "max_steps": last,
        "log_history": history,
    }
    file(f"{name}/trainer_state.json").write_text(json.dumps(state), encoding="utf-8")


def to_lightning(name: str, settings: Mapping[str, object], columns: Columns) -> None:
    """Lightning's CSVLogger: metrics.csv with hparams.yaml; `name` is a folder."""
    to_csv(f"{name}/metrics.csv", columns)
    text = "".join(f"{key}: {value}\n" for key, value in settings.items())
    file(f"{name}/hparams.yaml").write_text(text, encoding="utf-8")


def to_text(name: str, lines: Sequence[str]) -> None:
    file(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
