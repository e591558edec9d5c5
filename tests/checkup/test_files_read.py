"""`traindx run` knows which files a script reads, on which line, and checks what is in them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from traindx.observe.files_read import FilesRead

pytest.importorskip("torch")

SCRIPT = """import csv
import torch
from torch import nn
torch.manual_seed(0)
def load(name):
    with open(name) as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    data = torch.tensor(rows)
    return data[:, :5], data[:, 5].long()
x, y = load("train.csv")
held_x, held_y = load("valid.csv")
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for batch in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val = nn.functional.cross_entropy(model(held_x), held_y).item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val:.4f}")
with open("history.csv", "w") as file:
    file.write("epoch,loss")
print("RESULT", float(sum(p.double().sum() for p in model.parameters())))
"""


def write(folder: Path, *, sentinels: bool) -> None:
    random = np.random.default_rng(0)
    mix = random.normal(size=(5, 8)), random.normal(size=(8, 3))
    for name, count in (("train.csv", 800), ("valid.csv", 200)):
        inputs = random.normal(size=(count, 5)).round(3)
        labels = (np.tanh(inputs @ mix[0]) @ mix[1]).argmax(1)
        if sentinels:
            inputs[random.random(count) < 0.06, 2] = -999
        lines = [",".join([*map(str, row), str(label)]) for row, label in zip(inputs, labels, strict=True)]
        (folder / name).write_text("\n".join(["a,b,c,d,e,label", *lines]) + "\n")
    (folder / "train.py").write_text(SCRIPT)


def run(folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    command = [
        sys.executable,
        "-m",
        "traindx",
        "run",
        "--out",
        "rec",
        "--json",
        "answer.json",
        *options,
        "train.py",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode in (0, 1), done.stderr
    answer = json.loads((folder / "answer.json").read_text())
    return answer, done.stdout


def ids(answer: dict[str, Any]) -> set[str]:
    """What was found in files; the coverage lists what was looked for, too."""
    text = json.dumps({key: value for key, value in answer.items() if key != "coverage"})
    return {one for one in ("file_sentinels", "file_rows_shared", "file_labels_noisy") if one in text}


def test_a_sentinel_in_a_file_is_found_with_the_line_that_reads_it(tmp_path: Path) -> None:
    write(tmp_path, sentinels=True)
    answer, _ = run(tmp_path)
    assert "file_sentinels" in ids(answer)
    found = json.dumps(answer)
    assert "train.csv" in found
    assert "-999" in found
    facts = json.loads((tmp_path / "rec" / "run.json").read_text())
    read = {Path(one["path"]).name: one["line"] for one in facts["files_read"]}
    assert set(read) == {"train.csv", "valid.csv"}  # and not what it writes itself
    assert {line.rpartition(":")[2] for line in read.values()} == {"6"}


def test_sound_files_raise_nothing_and_the_training_is_the_same(tmp_path: Path) -> None:
    write(tmp_path, sentinels=False)
    answer, out = run(tmp_path)
    plain = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert plain.stdout.splitlines()[-1] in out
    assert not ids(answer)
    ran = {check["check"] for check in answer["coverage"] if check["status"] == "ran"}
    assert {"file_sentinels", "file_rows_shared"} <= ran


def test_unasked_for_nothing_is_read(tmp_path: Path) -> None:
    write(tmp_path, sentinels=True)
    answer, _ = run(tmp_path, "--no-check-data")
    assert not ids(answer)
    assert not (tmp_path / "rec" / "data.json").exists()


def test_how_often_a_file_is_opened_is_noted(tmp_path: Path) -> None:
    notes: list[list[dict[str, object]]] = []
    reads = FilesRead(notes.append, str(tmp_path / "recording"))
    path = tmp_path / "shard.npz"
    path.write_bytes(b"x")
    for _ in range(40):
        reads.read(str(path))
    assert [one[0].get("opened") for one in notes] == [None, 8, 16, 32]


LOADS = """import torch
from torch import nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
body.load_state_dict(torch.load("body.pt"))
model = nn.Sequential(body, nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(120):
    x = torch.randn(64, 8)
    loss = ((model(x) - x[:, :1] * x[:, 1:2]) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step {step} loss {loss.item():.4f}")
torch.save(body.state_dict(), "after.pt")
torch.load("after.pt")
"""


@pytest.mark.parametrize("damaged", [True, False])
def test_a_damaged_checkpoint_that_is_loaded_is_found(tmp_path: Path, damaged: bool) -> None:
    import torch
    from torch import nn

    torch.manual_seed(1)
    body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
    state = {name: value + 0.05 * torch.randn_like(value) for name, value in body.state_dict().items()}
    if damaged:
        state["2.weight"][4:] = 0
        state["2.bias"][4:] = 0
    torch.save(state, tmp_path / "body.pt")
    (tmp_path / "train.py").write_text(LOADS)
    answer, _ = run(tmp_path)
    read = json.loads((tmp_path / "rec" / "data.json").read_text())["data_files"]
    assert [one["name"] for one in read] == ["body.pt"]  # not what the training wrote itself
    found = [one["text"] for problem in answer["problems"] for one in problem["findings"]]
    assert any("body.pt" in text and "train.py:5" in text for text in found) is damaged
