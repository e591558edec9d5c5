"""Edits of trainings that Lightning, transformers or Accelerate run: settings in the calls that take them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.test_lint_trainers import MODULE
from traindx.core.nouns import Scalar
from traindx.experiment.edit import Edited, Instruction, edit_for
from traindx.experiment.runtime.change import Change
from traindx.source.script import parse_script, read_script

TRANSFORMERS = """\
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(hidden_size=32, hidden_dropout_prob=0.1)
args = TrainingArguments("out", learning_rate=0.3, eval_strategy="epoch", fp16=True)
trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=data)
trainer.train()
"""
ACCELERATE = """\
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
model = nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.3)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    with accelerator.accumulate(model):
        loss = nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
"""
LIGHTNING = MODULE.replace("max_epochs=20", 'max_epochs=20, precision="16-mixed"')
CASES: list[tuple[str, str, dict[str, Scalar], str]] = [
    (LIGHTNING, "scale_lr", {"factor": 0.1}, "def __init__(self, lr=1e-4):"),
    (LIGHTNING, "clip_norm", {"limit": 1.0}, "gradient_clip_val=1.0)"),
    (LIGHTNING, "clip_value", {"limit": 0.5}, 'gradient_clip_val=0.5, gradient_clip_algorithm="value")'),
    (LIGHTNING, "accumulate", {"batches": 4}, "accumulate_grad_batches=4"),
    (LIGHTNING, "full_precision", {}, 'precision="32-true"'),
    (LIGHTNING, "bf16_autocast", {}, 'precision="bf16-mixed"'),
    (LIGHTNING, "stop_early", {"patience": 3}, 'callbacks.EarlyStopping(monitor="val_loss", patience=3)]'),
    (LIGHTNING, "warm_up", {"steps": 50}, '"lr_scheduler": {"scheduler": warmup, "interval": "step"}}'),
    (LIGHTNING, "replace_schedule", {"kind": "cosine", "steps": 90}, "CosineAnnealingLR(opt, T_max=90)"),
    (LIGHTNING, "set_batch_size", {"value": 64}, "DataLoader(self.train, batch_size=64, shuffle=True)"),
    (LIGHTNING, "insert_norm", {}, "nn.LayerNorm(32), nn.ReLU()"),
    (LIGHTNING, "swap_activation", {"to": "leaky_relu"}, "nn.LeakyReLU()"),
    (TRANSFORMERS, "scale_lr", {"factor": 0.1}, "learning_rate=0.03"),
    (TRANSFORMERS, "clip_norm", {"limit": 0.5}, "max_grad_norm=0.5)"),
    (TRANSFORMERS, "loosen_clipping", {"off": True}, "max_grad_norm=0.0)"),
    (TRANSFORMERS, "set_weight_decay", {"value": 0.1}, "weight_decay=0.1"),
    (TRANSFORMERS, "warm_up", {"steps": 50}, "warmup_steps=50"),
    (TRANSFORMERS, "replace_schedule", {"kind": "cosine", "steps": 90}, 'lr_scheduler_type="cosine"'),
    (TRANSFORMERS, "accumulate", {"batches": 4}, "gradient_accumulation_steps=4"),
    (TRANSFORMERS, "full_precision", {}, "fp16=False"),
    (TRANSFORMERS, "bf16_autocast", {}, "fp16=False, bf16=True"),
    (TRANSFORMERS, "set_batch_size", {"value": 64}, "per_device_train_batch_size=64"),
    (TRANSFORMERS, "stop_early", {"patience": 3}, 'save_strategy="epoch", load_best_model_at_end=True'),
    (TRANSFORMERS, "set_dropout", {"value": 0.3}, "hidden_dropout_prob=0.3"),
    (TRANSFORMERS, "set_eps", {"value": 1e-6}, "adam_epsilon=1e-6"),
    (ACCELERATE, "scale_lr", {"factor": 0.1}, "lr=0.03"),
    (
        ACCELERATE,
        "clip_norm",
        {"limit": 1.0},
        "if accelerator.sync_gradients: accelerator.clip_grad_norm_(",
    ),
    (ACCELERATE, "accumulate", {"batches": 4}, "gradient_accumulation_steps=4"),
    (ACCELERATE, "full_precision", {}, 'mixed_precision="no"'),
    (ACCELERATE, "bf16_autocast", {}, 'mixed_precision="bf16"'),
    (ACCELERATE, "skip_nonfinite", {}, "if not torch.isfinite(loss): continue"),
    (ACCELERATE, "warm_up", {"steps": 50}, "optimizer.register_step_post_hook("),
]


@pytest.mark.parametrize(("text", "change", "values", "line"), CASES)
def test_a_change_becomes_the_framework_s_own_setting(
    text: str, change: str, values: dict[str, Scalar], line: str
) -> None:
    result = edit_for(parse_script(text), Change(change, values))
    assert isinstance(result, Edited), result
    [new] = result.sources.values()
    ast.parse(new)
    assert line in new


@pytest.mark.parametrize(
    ("change", "values", "words"),
    [
        ("clip_norm", {"limit": 1.0}, "already"),
        ("clip_value", {"limit": 1.0}, "by norm only"),
        ("replace_schedule", {"kind": "linear", "steps": 90}, "already"),
        ("replace_schedule", {"kind": "cyclic", "steps": 90}, "no cyclic schedule"),
    ],
)
def test_what_transformers_cannot_do_is_said(change: str, values: dict[str, Scalar], words: str) -> None:
    result = edit_for(parse_script(TRANSFORMERS), Change(change, values))
    assert isinstance(result, Instruction)
    assert words in result.text


YAML = """\
trainer:
  max_epochs: 3  # few
model:
  lr: 0.3
"""


@pytest.mark.parametrize(
    ("change", "values", "words", "line"),
    [
        ("scale_lr", {"factor": 0.01}, [], "  lr: 0.003"),
        ("clip_norm", {"limit": 1.0}, [], "  gradient_clip_val: 1.0"),
        ("scale_lr", {"factor": 0.1}, ["--model.lr", "0.2"], "0.02"),
    ],
)
def test_what_lightning_s_command_line_reads_is_changed_there(
    change: str, values: dict[str, Scalar], words: list[str], line: str, tmp_path: Path
) -> None:
    text = MODULE.replace("trainer = L.Trainer(max_epochs=20)\n", "").replace(
        "trainer.fit(Net(), datamodule=Data())", "LightningCLI(Net, Data)"
    )
    (tmp_path / "train.py").write_text("from lightning.pytorch.cli import LightningCLI\n" + text)
    (tmp_path / "config.yaml").write_text(YAML)
    args = ["fit", "--config", "config.yaml", *words]
    result = edit_for(read_script(tmp_path / "train.py"), Change(change, values), args=args)
    assert isinstance(result, Edited), result
    if words:
        assert result.args is not None
        assert result.args[-1] == line
    else:
        [new] = result.sources.values()
        assert line in new.splitlines()
        assert "  max_epochs: 3  # few" in new.splitlines()
