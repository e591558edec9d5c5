"""Curves with noise, and the files that training tools write."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1] / "second"
Curve = NDArray[np.float64]


def rng(name: str) -> np.random.Generator:
    """A generator of its own for every log, so that changing one leaves the others alone."""
    return np.random.default_rng([ord(letter) for letter in name])


def fall(
    random: np.random.Generator, n: int, start: float, end: float, tau: float, noise: float = 0.02
) -> Curve:
    """An exponential fall with noise in proportion to its height."""
    t = np.arange(n)
    clean = end + (start - end) * np.exp(-t / tau)
    return clean * np.exp(noise * random.standard_normal(n))


def level(random: np.random.Generator, n: int, mean: float, spread: float = 0.2) -> Curve:
    """Positive values around a level, such as gradient norms."""
    return mean * np.exp(spread * random.standard_normal(n))


def cosine(n: int, peak: float, warmup: int = 0, floor: float = 0.0) -> Curve:
    t = np.arange(n)
    after = floor + (peak - floor) * 0.5 * (1 + np.cos(np.pi * (t - warmup) / max(1, n - warmup)))
    return np.where(t < warmup, peak * (t + 1) / max(1, warmup), after)


def short(value: Any) -> Any:
    """Five significant digits."""
    if value is None or isinstance(value, str | bool | int | np.integer):
        return int(value) if isinstance(value, np.integer) else value
    return float(value) if not math.isfinite(value) else float(f"{value:.5g}")


def rows(columns: Mapping[str, Sequence[Any] | Curve]) -> list[dict[str, Any]]:
    n = max(len(column) for column in columns.values())
    return [{key: short(column[i]) for key, column in columns.items() if i < len(column)} for i in range(n)]


def place(name: str) -> Path:
    path = ROOT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def table(name: str, columns: Mapping[str, Sequence[Any] | Curve]) -> None:
    """A CSV file: Keras' CSVLogger, an export of Weights & Biases, a table of one's own."""
    with place(name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(columns))


def history(name: str, columns: Mapping[str, Sequence[Any] | Curve]) -> None:
    """A saved Keras History: one list for each metric."""
    out = {key: [short(value) for value in column] for key, column in columns.items()}
    place(name).write_text(json.dumps(out) + "\n", encoding="utf-8")


def lines(
    name: str, columns: Mapping[str, Sequence[Any] | Curve], first: Mapping[str, Any] | None = None
) -> None:
    """JSON lines, the settings in the first."""
    objects = [dict(first)] if first else []
    text = "\n".join(json.dumps(one) for one in [*objects, *rows(columns)])
    place(name).write_text(text + "\n", encoding="utf-8")


def text(name: str, header: Sequence[str], printed: Sequence[str]) -> None:
    place(name).write_text("\n".join([*header, *printed]) + "\n", encoding="utf-8")


def lightning(
    name: str,
    settings: Mapping[str, Any],
    steps: Mapping[str, Sequence[Any] | Curve],
    epochs: Mapping[str, Sequence[Any] | Curve],
    every: int = 50,
) -> None:
    """Lightning's CSVLogger: rows of steps, and a row with the validation after every epoch."""
    per_step, per_epoch = rows(steps), rows(epochs)
    share = max(1, len(per_step) // max(1, len(per_epoch)))
    header = ["epoch", "step", *steps, *epochs]
    with place(f"{name}/metrics.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        for i, row in enumerate(per_step):
            writer.writerow({"epoch": i // share, "step": (i + 1) * every - 1, **row})
            if (i + 1) % share == 0 and i // share < len(per_epoch):
                writer.writerow({"epoch": i // share, "step": (i + 1) * every - 1, **per_epoch[i // share]})
    settled = "\n".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
    place(f"{name}/hparams.yaml").write_text(settled + "\n", encoding="utf-8")


def trainer(
    name: str,
    steps: Mapping[str, Sequence[Any] | Curve],
    evaluations: Mapping[str, Sequence[Any] | Curve] | None = None,
    every: int = 10,
    epochs: float = 3.0,
    batch: int = 16,
) -> None:
    """Hugging Face's trainer_state.json."""
    per_step = rows(steps)
    total = len(per_step) * every
    log: list[dict[str, Any]] = [
        {"epoch": short(epochs * (i + 1) / len(per_step)), **row, "step": (i + 1) * every}
        for i, row in enumerate(per_step)
    ]
    checks = rows(evaluations) if evaluations else []
    for i, row in enumerate(checks):
        step = round(total * (i + 1) / len(checks))
        log.append({"epoch": short(epochs * step / total), **row, "step": step})
    log.sort(key=lambda row: int(row["step"]))
    state = {
        "best_metric": None,
        "epoch": epochs,
        "global_step": total,
        "is_world_process_zero": True,
        "log_history": log,
        "logging_steps": every,
        "max_steps": total,
        "num_train_epochs": math.ceil(epochs),
        "train_batch_size": batch,
    }
    place(name).write_text(json.dumps(state) + "\n", encoding="utf-8")
