"""The reports of `traindx treat` on a real training that overfits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

OVERFITS = '''"""A small classification with more weights than samples."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(300, 20)
y = (x @ torch.randn(20, 3) + 1.5 * torch.randn(300, 3)).argmax(1)
train_x, train_y, val_x, val_y = x[:100], y[:100], x[100:], y[100:]
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)
for epoch in range(50):
    model.train()
    for rows in torch.randperm(100).split(20):
        loss = F.cross_entropy(model(train_x[rows]), train_y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        out = model(val_x)
        val_loss = F.cross_entropy(out, val_y).item()
        val_acc = (out.argmax(1) == val_y).float().mean().item()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {val_loss:.4f} val_acc {val_acc:.4f}")
'''


def traindx(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture(scope="module")
def treated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overfits")
    (folder / "train.py").write_text(OVERFITS)
    done = traindx(folder, "treat", "--seeds", "1", "--save-model", "train.py")
    assert done.returncode in (0, 1), done.stdout + done.stderr
    (folder / "stdout.txt").write_text(done.stdout)
    return folder


def results(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "treatment" / "results.json").read_text())
    return loaded


def test_the_report_has_the_sections_of_a_final_report(treated: Path) -> None:
    text = (treated / "treatment" / "diagnostic_report.md").read_text()
    for title in ("Original issues", "Root causes", "Results", "Recommendations", "Files"):
        assert re.search(rf"^## {title}", text, re.M), title
    assert "| Before | After | Improvement |" in text
    for row in (
        "training loss, end",
        "validation loss, end",
        "validation loss, best",
        "validation accuracy, best",
    ):
        assert row in text, row
    page = (treated / "treatment" / "report.html").read_text()
    assert all(
        title in page for title in ("Original issues", "Root causes", "Improvement", "Recommendations")
    )


def test_every_file_that_is_listed_is_there(treated: Path) -> None:
    text = (treated / "treatment" / "diagnostic_report.md").read_text()
    files = text.partition("## Files")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`([^`]+)`", files))
    assert listed == {path.name for path in (treated / "treatment").iterdir()}


def test_no_gain_is_proven_whose_best_is_worse(treated: Path) -> None:
    for one in results(treated)["rounds"]:
        if one["proof"] is None or not one["proof"]["reproduced"]:
            continue
        series = {each["name"]: each for each in one["proof"]["results"]["series"]}
        assert series["val/loss"]["best_gain"] > -0.03 or series["val/accuracy"]["best_gain"] > 0.03


def test_what_a_trial_refuted_is_nowhere_advised(treated: Path) -> None:
    told = results(treated)
    last = told["rounds"][-1]
    words = {trial["change"]: (trial["verdict"] or {}).get("word") for trial in last["trials"]}
    refuted = {change for change, word in words.items() if word in ("hurt", "no difference")}
    assert refuted, "the test needs a trial that refuted something"
    advice = [one["text"] for one in told["recommendations"]]
    advice += [one["instruction"] for one in told["rounds"] if one["instruction"]]
    for change in refuted:
        assert not any(change.removeprefix("edit: ") in text for text in advice)
    hurt = {trial["remedy"] for trial in last["trials"] if (trial["verdict"] or {}).get("word") == "hurt"}
    helped = {trial["remedy"] for trial in last["trials"] if (trial["verdict"] or {}).get("word") == "helped"}
    fixes = [
        fix
        for problem in (told["after"] or told["before"])["problems"]
        for hypothesis in problem["hypotheses"]
        for fix in [hypothesis["fix"], *hypothesis["fix"]["then"]]
    ]
    for fix in fixes:
        if fix.get("remedy") in hurt - helped:
            assert "not tried" in fix["summary"]


def test_the_success_is_stated(treated: Path) -> None:
    [first, *_] = results(treated)["results"]["success"] or [None]
    if results(treated)["status"] in ("treated", "improved"):
        assert first["text"] == "validation loss at least 10 % lower"
        assert "success" in (treated / "stdout.txt").read_text()


def test_a_later_diagnosis_of_the_same_script_knows_what_was_refuted(treated: Path) -> None:
    pool = treated / ".traindx" / "evidence.jsonl"
    [line] = pool.read_text().splitlines()
    trials = json.loads(line)["trials"]
    assert {trial["change"] for trial in trials} == {
        trial["change"] for trial in results(treated)["rounds"][0]["trials"]
    }
