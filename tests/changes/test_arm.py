"""`python -m traindx.experiment.runtime`: a script in a process of its own, recorded and changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import traindx
from traindx.experiment.runtime.change import Change, change_specs

SCRIPT = """
import sys, torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
for step in range(int(sys.argv[1])):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    plan.step()
print("rate", plan.get_last_lr()[0])
"""


def run_arm(folder: Path, source: str, *changes: str, args: tuple[str, ...] = ("8",), **orders: Any) -> Any:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(source)
    told = {
        "program": ["train.py", *args],
        "cwd": str(folder),
        "record": str(folder / "rec"),
        "changes": [Change.parse(one).to_json() for one in changes],
        **orders,
    }
    (folder / "orders.json").write_text(json.dumps(told))
    return subprocess.run(
        [sys.executable, "-m", "traindx.experiment.runtime", str(folder / "orders.json")],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def recorded(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    run = json.loads((folder / "rec" / "run.json").read_text())
    lines = (folder / "rec" / "rank-0.jsonl").read_text().splitlines()
    return run, [json.loads(line) for line in lines]


def test_the_recording_holds_the_changed_training(tmp_path: Path) -> None:
    ran = run_arm(tmp_path, SCRIPT, "scale_lr factor=0.1", "clip_norm limit=0.5")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "rate 0.025\n"
    run, lines = recorded(tmp_path)
    assert [(one["id"], one["failed"]) for one in run["interventions"]] == [
        ("scale_lr", None),
        ("clip_norm", None),
    ]
    assert run["interventions"][0]["said"] == ["lr 0.1 -> 0.01 in group 0 of SGD"]
    events = [line for line in lines if line.get("event") == "intervention"]
    assert [event["data"]["id"] for event in events] == ["scale_lr", "clip_norm", "clip_norm"]
    assert run["config"]["clip"] == 0.5
    [read] = traindx.read(tmp_path / "rec").runs
    assert list(read.series["lr"].values) == [0.01] * 4 + [0.005] * 4
    assert max(read.series["grad_norm_clipped"].values) == 0.5


def test_one_that_cannot_be_done_ends_the_arm(tmp_path: Path) -> None:
    ran = run_arm(tmp_path, SCRIPT, "clip_norm limit=1e9", steps=3)
    assert ran.returncode == 0
    run, lines = recorded(tmp_path)
    assert run["interventions"][0]["failed"].startswith("no gradient norm was above 1e+09")
    assert any(line.get("event") == "intervention_failed" for line in lines)
    assert run["ended"]["step"] == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("scale_rl factor=1", "no change is called 'scale_rl'. Did you mean scale_lr?"),
        ("scale_lr", "scale_lr needs factor=..., a number."),
        ("scale_lr factor=much", "scale_lr: factor must be a number, not 'much'."),
        ("scale_lr factor=-1", "scale_lr: factor must be above 0, not -1."),
        ("scale_lr factor=nan", "scale_lr: factor must be a number, not 'nan'."),
        ("scale_lr by=2", "scale_lr has no value 'by'; it takes factor."),
        ("scale_lr 2", "values are given as name=value"),
        ("ramp_lr first=1 last=2 steps=2.5", "ramp_lr: steps must be a whole number"),
    ],
)
def test_what_is_asked_for_is_checked(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as told:
        Change.parse(text)
    assert why in str(told.value)


def test_changes_as_text_and_json() -> None:
    change = Change.parse("scale_lr factor=0.1")
    assert str(change) == "scale_lr factor=0.1"
    assert Change.from_json(change.to_json()) == change
    assert len({change, Change("scale_lr", {"factor": 0.1})}) == 1


def test_every_intervention_has_its_page() -> None:
    for id, unit in change_specs().items():
        assert unit.title.endswith("."), id
        assert "Out of reach:" in unit.page, id
        assert unit.page.splitlines()[0].endswith((".", ":", ",")) or len(unit.page.splitlines()[0]) > 40, id


def test_they_are_known_without_torch() -> None:
    code = "from traindx.experiment.runtime.change import change_specs; change_specs()"
    code += "; import sys; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"


@pytest.mark.parametrize("kind", ["changes", "interventions"])
def test_list_accepts_the_former_word_too(kind: str) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "traindx", "list", kind, "--json"], capture_output=True, check=True
    )
    document = json.loads(listed.stdout)
    assert document["kind"] == kind
    assert {item["id"] for item in document["items"]} == set(change_specs())
