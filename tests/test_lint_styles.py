"""One change in a right script makes one fault, and that one alone is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.evidence.lint import lint

STYLES = Path(__file__).parent / "lint_styles"
FAULTS = [
    ("trainer_amp", "                self.scaler.unscale_(self.opt)\n", "", "clip_before_unscale"),
    ("trainer_amp", "                self.scaler.update()\n", "", "scaler_half"),
    ("trainer_amp", "                loss = loss / self.cfg.accum_steps\n", "", "accumulation"),
    (
        "trainer_amp",
        "nn.ModuleList([Block(d, 4) for _ in range(n)])",
        "[Block(d, 4) for _ in range(n)]",
        "layers_in_list",
    ),
    ("trainer_amp", "        self.model.eval()\n", "", "eval_missing"),
    ("trainer_amp", "        self.model.train()\n", "", "mode_not_restored"),
    ("trainer_amp", "            total += loss.item()", "            total += loss", "graph_kept"),
    (
        "trainer_amp",
        "                self.opt.zero_grad(set_to_none=True)\n                self.sched",
        "                self.sched",
        "zero_grad_missing",
    ),
    ("trainer_amp", "self.scaler.scale(loss).backward()", "loss.backward()", "scaler_half"),
    ("dqn", "    opt.zero_grad()\n", "", "zero_grad_missing"),
    (
        "dqn",
        "    loss.backward()\n    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)\n",
        "    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)\n    loss.backward()\n",
        "clip_misplaced",
    ),
    ("dqn", "policy.parameters(), lr", "target.parameters(), lr", "left_out"),
    ("byol", "opt2.zero_grad(); ", "", "zero_grad_missing"),
    ("keras_fits", "CosineDecay(0.0, steps,", "CosineDecay(0.0, EPOCHS,", "scheduler_pace"),
    (
        "keras_fits",
        "loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)",
        "loss='sparse_categorical_crossentropy'",
        "activation_missing",
    ),
    (
        "keras_fits",
        "layers.Flatten(), ",
        "layers.Flatten(), layers.Dense(9, kernel_initializer='ones'), ",
        "init_constant",
    ),
    ("keras_loops", "loss = optimizer.scale_loss(error)", "loss = error", "scaler_half"),
    ("keras_ok", "layers.Dense(3, activation='softmax')", "layers.Dense(3)", "activation_missing"),
    (
        "keras_ok",
        "out = layers.Dense(3)(h)",
        "out = layers.Dense(3, activation='softmax')(h)",
        "double_activation",
    ),
    ("keras_ok", "validation_data=(X_test, y_test)", "validation_data=(X_train, y_train)", "same_split"),
    (
        "keras_ok",
        "layers.Dense(3, activation='softmax')",
        "layers.Dense(1, activation='softmax')",
        "output_width",
    ),
    ("lit", "nn.Linear(128, 10))", "nn.Linear(128, 10), nn.Softmax(dim=1))", "double_activation"),
    ("misc", "            opt.zero_grad()\n", "", "zero_grad_missing"),
    ("misc", "        model.train()\n", "", "mode_not_restored"),
    (
        "misc",
        "            loss.backward()\n            opt.step()\n            opt.zero_grad()\n",
        "            loss.backward()\n            opt.zero_grad()\n            opt.step()\n",
        "step_without",
    ),
    ("misc", "val_dl = DataLoader(val_set, 128)", "val_dl = DataLoader(train_set, 128)", "same_split"),
    ("misc", "        model.eval()\n", "", "eval_missing"),
    (
        "misc",
        "        model.eval()\n        with torch.no_grad():",
        "        with torch.no_grad():",
        "eval_missing",
    ),
    (
        "misc",
        "opt.zero_grad(set_to_none=True); loss.backward(); opt.step()",
        "opt.zero_grad(set_to_none=True); loss.backward()",
        "step_missing",
    ),
    (
        "misc",
        "X[idx[:800]], Y[idx[:800]]",
        "X[torch.randperm(1000)[:800]], Y[torch.randperm(1000)[:800]]",
        "shuffled_apart",
    ),
    (
        "misc",
        "nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))",
        "nn.Sequential(nn.Linear(20, 32), nn.Linear(32, 3))",
        "nonlinearity",
    ),
    (
        "misc",
        "F.binary_cross_entropy_with_logits(logits, yb)",
        "F.binary_cross_entropy_with_logits(yb, logits)",
        "swapped",
    ),
    (
        "misc",
        "F.binary_cross_entropy_with_logits(logits, yb)",
        "F.binary_cross_entropy(logits, yb)",
        "activation_missing",
    ),
    (
        "misc",
        "loss = crit(out, yy[pick])",
        "loss = crit(out.detach(), yy[pick]).requires_grad_()",
        "detached",
    ),
    (
        "misc",
        "loss = crit(out, yy[pick])",
        "loss = torch.tensor(crit(out, yy[pick]).item(), requires_grad=True)",
        "detached",
    ),
    (
        "misc",
        "torch.optim.AdamW(clf.parameters(), lr=1e-3)",
        "torch.optim.AdamW(clf[0].parameters(), lr=1e-3)",
        "left_out",
    ),
]


@pytest.mark.parametrize("path", sorted(STYLES.glob("*.py")), ids=lambda path: path.stem)
def test_right_scripts_of_many_styles_raise_nothing(path: Path) -> None:
    linted = lint(path)
    assert linted.script.trace.complete
    assert [finding.text for finding in linted.findings] == []


@pytest.mark.parametrize(("style", "old", "new", "fault"), FAULTS, ids=lambda part: part[:24].strip())
def test_one_change_makes_one_fault(style: str, old: str, new: str, fault: str, tmp_path: Path) -> None:
    text = (STYLES / f"{style}.py").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "train.py"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = {finding.id for finding in lint(path).findings}
    assert len(found) == 1, found
    assert fault in found.pop()
