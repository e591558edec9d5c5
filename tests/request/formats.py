"""Curves as trainings give them, and the files and prints of training tools, for all makers of logs."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Curve = NDArray[np.float64]
Columns = Mapping[str, Sequence[Any] | Curve]
NAN = float("nan")


def expo(n: int, start: float, end: float, tau: float) -> Curve:
    return end + (start - end) * np.exp(-np.arange(n) / tau)


def power(n: int, start: float, end: float, scale: float, exponent: float = 0.7) -> Curve:
    """A fall that gets slower and slower, as losses of large data do."""
    return end + (start - end) * (1 + np.arange(n) / scale) ** -exponent


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


def level(r: np.random.Generator, n: int, mean: float, spread: float = 0.2) -> Curve:
    """Positive values around a level, such as gradient norms."""
    return mean * np.exp(spread * r.standard_normal(n))


def cosine(n: int, peak: float, warmup: int = 0, floor: float = 0.0) -> Curve:
    t = np.arange(n)
    after = floor + (peak - floor) * 0.5 * (1 + np.cos(np.pi * (t - warmup) / max(1, n - warmup)))
    return np.where(t < warmup, peak * (t + 1) / max(1, warmup), after)


def linear(n: int, peak: float, warmup: int = 0) -> Curve:
    t = np.arange(n)
    return np.where(t < warmup, peak * (t + 1) / max(1, warmup), peak * (n - t) / max(1, n - warmup))


def short(value: Any, digits: int = 4) -> Any:
    """So many significant digits."""
    if value is None or isinstance(value, str | bool | int | np.integer):
        return int(value) if isinstance(value, np.integer) else value
    return float(value) if not math.isfinite(value) else float(f"{value:.{digits}g}")


@dataclass(frozen=True)
class Files:
    """Writes the logs of one author: below which folder, with how many digits, with empty values as null."""

    folder: str
    digits: int = 4
    nulls: bool = False

    def place(self, name: str) -> Path:
        path = Path(__file__).parent / self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def rows(self, columns: Columns) -> list[dict[str, Any]]:
        n = max((len(column) for column in columns.values()), default=0)
        return [
            {key: short(column[i], self.digits) for key, column in columns.items() if i < len(column)}
            for i in range(n)
        ]

    def text(self, name: str, *parts: str | Sequence[str]) -> None:
        out: list[str] = []
        for part in parts:
            out += [part] if isinstance(part, str) else list(part)
        self.place(name).write_text("\n".join(out) + "\n", encoding="utf-8")

    def table(self, name: str, columns: Columns) -> None:
        """A CSV file: Keras' CSVLogger, an export of Weights & Biases, a table of one's own."""
        with self.place(name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(columns), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows(columns))

    def history(self, name: str, columns: Columns) -> None:
        """A saved Keras History: one list for each metric."""
        out = {key: [short(value, self.digits) for value in column] for key, column in columns.items()}
        self.text(name, json.dumps(out))

    def lines(self, name: str, columns: Columns, first: Mapping[str, Any] | None = None) -> None:
        """JSON lines; the settings, if any, are the first."""
        objects = [dict(first)] if first else []
        objects += [
            {k: v for k, v in row.items() if self.nulls or v is not None} for row in self.rows(columns)
        ]
        self.text(name, [json.dumps(one) for one in objects])

    def keras(
        self, name: str, columns: Columns, steps: int, header: Sequence[str] = (), new: bool = False
    ) -> None:
        """What `fit` prints; `new`: as Keras 3 does."""
        printed = list(header)
        every = self.rows(columns)
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
        self.text(name, printed)

    def dicts(
        self,
        name: str,
        steps: Columns,
        evaluations: Columns | None = None,
        epochs: float = 3.0,
        header: Sequence[str] = (),
    ) -> None:
        """What the Hugging Face Trainer prints."""
        per_step = self.rows(steps)
        checks = self.rows(evaluations) if evaluations else []
        n, printed, done = len(per_step), list(header), 0
        for i, row in enumerate(per_step, 1):
            printed.append(str({**row, "epoch": short(epochs * i / n, 3)}))
            while done < len(checks) and i >= round(n * (done + 1) / len(checks)):
                printed.append(str({**checks[done], "eval_runtime": 12.3, "epoch": short(epochs * i / n, 3)}))
                done += 1
        self.text(name, printed)

    def trainer(
        self,
        name: str,
        steps: Columns,
        evaluations: Columns | None = None,
        every: int = 10,
        epochs: float = 3.0,
        batch: int = 16,
    ) -> None:
        """Hugging Face's trainer_state.json."""
        per_step = self.rows(steps)
        total = len(per_step) * every
        log: list[dict[str, Any]] = [
            {"epoch": short(epochs * (i + 1) / len(per_step), self.digits), **row, "step": (i + 1) * every}
            for i, row in enumerate(per_step)
        ]
        checks = self.rows(evaluations) if evaluations else []
        for i, row in enumerate(checks):
            step = round(total * (i + 1) / len(checks))
            log.append({"epoch": short(epochs * step / total, self.digits), **row, "step": step})
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
        self.text(name, json.dumps(state))

    def lightning(
        self, name: str, settings: Mapping[str, Any], steps: Columns, epochs: Columns, every: int = 50
    ) -> None:
        """Lightning's CSVLogger: rows of steps, and a row with the validation after every epoch."""
        per_step, per_epoch = self.rows(steps), self.rows(epochs)
        share = max(1, len(per_step) // max(1, len(per_epoch)))
        with self.place(f"{name}/metrics.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["epoch", "step", *steps, *epochs], lineterminator="\n")
            writer.writeheader()
            for i, row in enumerate(per_step):
                writer.writerow({"epoch": i // share, "step": (i + 1) * every - 1, **row})
                if (i + 1) % share == 0 and i // share < len(per_epoch):
                    writer.writerow(
                        {"epoch": i // share, "step": (i + 1) * every - 1, **per_epoch[i // share]}
                    )
        if settings:
            settled = [f"{key}: {json.dumps(value)}" for key, value in settings.items()]
            self.text(f"{name}/hparams.yaml", settled)
