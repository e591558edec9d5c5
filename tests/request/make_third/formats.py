"""Curves as trainings give them, and the files and prints of training tools."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1] / "third"
Curve = NDArray[np.float64]
NAN = float("nan")


def rng(name: str) -> np.random.Generator:
    """A generator for every log, so that one can be changed alone."""
    return np.random.default_rng([3, *(ord(letter) for letter in name)])


def power(n: int, start: float, end: float, scale: float, exponent: float = 0.7) -> Curve:
    """A fall that gets slower and slower, as losses of large data do."""
    return end + (start - end) * (1 + np.arange(n) / scale) ** -exponent


def expo(n: int, start: float, end: float, tau: float) -> Curve:
    return end + (start - end) * np.exp(-np.arange(n) / tau)


def wander(r: np.random.Generator, n: int, sd: float, memory: float = 0.5) -> Curve:
    """Noise with a memory."""
    out = np.zeros(n)
    value = 0.0
    for i in range(n):
        value = memory * value + math.sqrt(1 - memory**2) * r.standard_normal()
        out[i] = value
    return sd * out


def rough(r: np.random.Generator, clean: Curve, sd: float, memory: float = 0.2) -> Curve:
    """Noise in proportion to the height."""
    return np.asarray(clean) * np.exp(wander(r, len(clean), sd, memory))


def level(r: np.random.Generator, n: int, mean: float, sd: float = 0.2) -> Curve:
    return mean * np.exp(sd * r.standard_normal(n))


def cosine(n: int, peak: float, warmup: int = 0, floor: float = 0.0) -> Curve:
    t = np.arange(n)
    after = floor + (peak - floor) * 0.5 * (1 + np.cos(np.pi * (t - warmup) / max(1, n - warmup)))
    return np.where(t < warmup, peak * (t + 1) / max(1, warmup), after)


def linear(n: int, peak: float, warmup: int = 0) -> Curve:
    t = np.arange(n)
    return np.where(t < warmup, peak * (t + 1) / max(1, warmup), peak * (n - t) / max(1, n - warmup))


def short(value: Any, digits: int = 4) -> Any:
    if value is None or isinstance(value, str | bool | int | np.integer):
        return int(value) if isinstance(value, np.integer) else value
    return float(value) if not math.isfinite(value) else float(f"{value:.{digits}g}")


def rows(columns: Mapping[str, Sequence[Any] | Curve]) -> list[dict[str, Any]]:
    n = max((len(column) for column in columns.values()), default=0)
    return [{key: short(column[i]) for key, column in columns.items() if i < len(column)} for i in range(n)]


def place(name: str) -> Path:
    path = ROOT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def table(name: str, columns: Mapping[str, Sequence[Any] | Curve]) -> None:
    with place(name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(columns))


def history(name: str, columns: Mapping[str, Sequence[Any] | Curve]) -> None:
    """A saved Keras History."""
    out = {key: [short(value) for value in column] for key, column in columns.items()}
    place(name).write_text(json.dumps(out) + "\n", encoding="utf-8")


def lines(
    name: str, columns: Mapping[str, Sequence[Any] | Curve], first: Mapping[str, Any] | None = None
) -> None:
    """JSON lines; the settings, if any, are the first."""
    objects = [dict(first)] if first else []
    objects += [{k: v for k, v in row.items() if v is not None} for row in rows(columns)]
    place(name).write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")


def text(name: str, *parts: str | Sequence[str]) -> None:
    out: list[str] = []
    for part in parts:
        out += [part] if isinstance(part, str) else list(part)
    place(name).write_text("\n".join(out) + "\n", encoding="utf-8")


def keras(
    name: str,
    columns: Mapping[str, Sequence[Any] | Curve],
    steps: int,
    header: Sequence[str] = (),
    new: bool = False,
) -> None:
    """What `fit` prints; `new`: as Keras 3 does."""
    printed = list(header)
    every = rows(columns)
    for i, row in enumerate(every, 1):
        printed.append(f"Epoch {i}/{len(every)}")
        said = " - ".join(
            f"{k}: {v:.4e}" if isinstance(v, float) and 0 < abs(v) < 1e-3 else f"{k}: {v:.4f}"
            for k, v in row.items()
        )
        if new:
            printed.append(f"{steps}/{steps} ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - {said}")
        else:
            printed.append(f"{steps}/{steps} [==============================] - 6s 31ms/step - {said}")
    text(name, printed)


def dicts(
    name: str,
    steps: Mapping[str, Sequence[Any] | Curve],
    evaluations: Mapping[str, Sequence[Any] | Curve] | None = None,
    epochs: float = 3.0,
    header: Sequence[str] = (),
) -> None:
    """What the Hugging Face Trainer prints."""
    per_step = rows(steps)
    checks = rows(evaluations) if evaluations else []
    n, printed, done = len(per_step), list(header), 0
    for i, row in enumerate(per_step, 1):
        printed.append(str({**row, "epoch": short(epochs * i / n, 3)}))
        while done < len(checks) and i >= round(n * (done + 1) / len(checks)):
            printed.append(str({**checks[done], "eval_runtime": 12.3, "epoch": short(epochs * i / n, 3)}))
            done += 1
    text(name, printed)


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
    log = [
        {"epoch": short(epochs * (i + 1) / len(per_step)), **row, "step": (i + 1) * every}
        for i, row in enumerate(per_step)
    ]
    checks = rows(evaluations) if evaluations else []
    for i, row in enumerate(checks):
        step = round(total * (i + 1) / len(checks))
        log.append({"epoch": short(epochs * step / total), **row, "step": step})
    log.sort(key=lambda row: int(row["step"]))
    state = {
        "epoch": epochs,
        "global_step": total,
        "log_history": log,
        "logging_steps": every,
        "max_steps": total,
        "num_train_epochs": math.ceil(epochs),
        "train_batch_size": batch,
    }
    place(name).write_text(json.dumps(state) + "\n", encoding="utf-8")


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
    with place(f"{name}/metrics.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["epoch", "step", *steps, *epochs], lineterminator="\n")
        writer.writeheader()
        for i, row in enumerate(per_step):
            writer.writerow({"epoch": i // share, "step": (i + 1) * every - 1, **row})
            if (i + 1) % share == 0 and i // share < len(per_epoch):
                writer.writerow({"epoch": i // share, "step": (i + 1) * every - 1, **per_epoch[i // share]})
    if settings:
        settled = "\n".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
        place(f"{name}/hparams.yaml").write_text(settled + "\n", encoding="utf-8")
