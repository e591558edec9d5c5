"""Trainer states by transformers: a healthy run with checkpoints, a hidden NaN, a NaN in the open.

Losses are the same on every run; runtimes are not, so the truth is what a callback saw.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from record_version import record, shown
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

KEPT = ("trainer_state.json", "config.json", "all_results.json")


class Breaking(BertForSequenceClassification):
    """A classifier whose training loss is NaN from the 8th batch on, when told so."""

    breaks = False
    batches = 0

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor, **how: Any) -> Any:
        output = super().forward(input_ids=input_ids, labels=labels, **how)
        self.batches += self.training
        if self.breaks and self.training and self.batches >= 8:
            output.loss = output.loss * float("nan")
        return output


class Witness(TrainerCallback):
    """What was logged, by step."""

    def __init__(self) -> None:
        self.series: dict[str, list[list[object]]] = {}
        self.summary: dict[str, float] = {}

    def on_log(self, _: Any, state: Any, __: Any, logs: dict[str, float], **___: Any) -> None:
        if "train_runtime" in logs:
            self.summary = {name: value for name, value in logs.items() if name != "epoch"}
            return
        for name, value in logs.items():
            points = self.series.setdefault(name, [])
            if [state.global_step, shown(value)] not in points[-1:]:
                points.append([state.global_step, shown(value)])


def write(out: Path) -> None:
    """Write every sample and its truth below `out`."""
    shutil.rmtree(out, ignore_errors=True)
    truth = {
        "healthy": train(out / "healthy", evaluate=True),
        "nan_hidden": train(out / "nan_hidden", breaks=True),
        "nan_shown": train(out / "nan_shown", breaks=True, logging_nan_inf_filter=False),
    }
    (out / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    record("transformers", transformers.__version__)


def train(folder: Path, *, evaluate: bool = False, breaks: bool = False, **how: Any) -> dict[str, object]:
    """One short training; what it logged."""
    trainer, witness = trainer_for(folder, evaluate=evaluate, breaks=breaks, report_to="none", **how)
    result = trainer.train()
    trainer.save_model()
    trainer.save_state()
    trainer.save_metrics("train", result.metrics)
    _keep_states(folder)
    config = {
        "max_steps": 12,
        "num_train_epochs": 2,
        "train_batch_size": 4,
        "hidden_size": 8,
        "vocab_size": 32,
        "num_labels": 3,
    }
    return {"series": witness.series, "config": config, "summary": witness.summary}


def trainer_for(folder: Path, *, evaluate: bool, breaks: bool = False, **how: Any) -> tuple[Trainer, Witness]:
    """A tiny classifier on made-up sentences."""
    transformers.set_seed(0)
    model = Breaking(
        BertConfig(
            vocab_size=32,
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
            max_position_embeddings=16,
            num_labels=3,
        )
    )
    model.breaks = breaks
    words = torch.randint(0, 32, (24, 6))
    data = [{"input_ids": w, "labels": (w.sum() % 3)} for w in words]
    args = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=4,
        num_train_epochs=2,
        learning_rate=0.01,
        logging_steps=1,
        save_steps=6,
        eval_strategy="steps" if evaluate else "no",
        eval_steps=3,
        disable_tqdm=True,
        use_cpu=True,
        seed=0,
        **how,
    )
    witness = Witness()
    trainer = Trainer(model, args, train_dataset=data, eval_dataset=data[:8], callbacks=[witness])
    return trainer, witness


def _keep_states(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.name not in KEPT:
            path.unlink()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
