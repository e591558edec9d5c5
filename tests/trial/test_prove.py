"""`traindx prove` as a user runs it: changes of known effect, and false cures."""

from __future__ import annotations

import contextlib
import difflib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from traindx.cli import cli
from traindx.core.nouns import Run
from traindx.experiment.measure import Yardstick
from traindx.experiment.prove.from_git import between
from traindx.experiment.prove.patching import PatchError, patched
from traindx.experiment.prove.sequential import USUAL, decide
from traindx.experiment.prove.unlike import likenesses
from traindx.experiment.prove.versions import NoVersion, as_arguments, as_patch, as_settings

SCRIPT = """import argparse, csv
import torch
from torch import nn
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.05)
args = parser.parse_args()
torch.manual_seed(0)
parts = [list(csv.DictReader(open(name))) for name in ("data.csv", "held.csv")]
rows, count = sum(parts, []), len(parts[0])
x = torch.tensor([[float(row[f"f{i}"]) for i in range(6)] for row in rows])
y = torch.tensor([int(row["label"]) for row in rows])
held = slice(count, count + 100)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(model.parameters(), lr=args.lr)
for epoch in range(6):
    for batch in torch.randperm(count).split(40):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        opt.step()
    with torch.no_grad():
        out = model(x[held])
        val = nn.functional.cross_entropy(out, y[held]).item()
        acc = (out.argmax(1) == y[held]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val:.4f} val_acc {acc:.4f}")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 6))
    y = (x @ rng.normal(size=(6, 3))).argmax(1)
    head = "f0,f1,f2,f3,f4,f5,label,site"
    lines = []
    for number, (row, label) in enumerate(zip(x, y, strict=True)):
        site = number % 4
        wrong = (label + 1) % 3 if site == 2 and number < 400 else label
        lines.append(",".join([*(f"{value:.5f}" for value in row), str(wrong), str(site)]))
    for name, part in (("data.csv", lines[:400]), ("held.csv", lines[400:])):
        (tmp_path / name).write_text("\n".join([head, *part]) + "\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def prove(folder: Path, *words: str, code: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "traindx", "prove", "--json", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def edited(folder: Path, name: str, *changes: tuple[str, str]) -> str:
    text = SCRIPT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / name).write_text(text)
    return name


def test_other_arguments_are_better(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    document = prove(
        folder, "--args", "--lr 0.5", "--md", "proof.md", "--plot", "proof.png", "train.py", code=0
    )
    [version] = document["versions"]
    assert version["answer"] == "better"
    assert version["metric"] == "val/loss"
    assert version["interval"][0] > 0
    assert len(version["pairs"]) >= 3
    assert {one["what"] for one in version["compared"] if one["same"]} >= {
        "loss",
        "validation data",
        "length",
    }
    assert "BETTER" in (folder / "proof.md").read_text()
    assert (folder / "proof.png").read_bytes().startswith(b"\x89PNG")
    assert all(path.read_bytes() == data for path, data in before.items())


def test_a_race_leaves_the_losers_behind(folder: Path) -> None:
    document = prove(folder, "--quick", "--set", "lr=1e-5,0.5,0.001", "train.py", code=0)
    assert document["versions"][0]["name"] == "lr=0.5"
    assert min(len(one["pairs"]) for one in document["versions"]) == 1


def test_worse_and_the_same(folder: Path) -> None:
    edited(folder, "slow.py", ("default=0.05", "default=0.0005"))
    assert prove(folder, "--with", "slow.py", "train.py", code=1)["answer"] == "worse"
    edited(folder, "renamed.py", ("loss = nn", "the_loss = nn"), ("loss.backward", "the_loss.backward"),
           ("loss.item()", "the_loss.item()"))  # fmt: skip
    document = prove(folder, "--with", "renamed.py", "train.py", code=1)
    assert document["answer"] == "no difference"
    assert len(document["versions"][0]["pairs"]) == 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("cross_entropy(out, y[held])", "cross_entropy(2 * out, y[held])"), "measurement"),
        (("slice(count, count + 100)", "slice(0, 100)"), "leak"),
        (("held = slice(count, count + 100)", "held = torch.arange(count, 500)[x[count:].norm(dim=1) > 2]"),
         "measurement"),
    ],
)  # fmt: skip
def test_what_only_looks_better_is_found_out(folder: Path, change: tuple[str, str], what: str) -> None:
    edited(folder, "trick.py", change)
    document = prove(folder, "--with", "trick.py", "train.py", code=1)
    assert document["answer"] == "cannot tell"
    assert what in [one["what"] for one in document["versions"][0]["compared"] if one["spoils"]]


def test_inputs_of_another_form_are_no_other_samples() -> None:
    def run(training: list[str], validation: list[str]) -> Run:
        held_out = {"taken": 2, "known": 0, "sketch": validation, "every_row": True}
        samples = {"distinct": 2, "sketch": training, "every_row": True, "validation": held_out}
        return Run("run", "run", ("recording",), "step", {}, facts={"samples": samples})

    def judged(before: Run, after: Run) -> bool | None:
        compared = likenesses(before, after, Yardstick("val/loss"))
        return next(one.same for one in compared if one.what == "validation data")

    before = run(["1", "2"], ["3", "4"])
    assert judged(before, run(["1", "2"], ["3", "4"])) is True
    assert judged(before, run(["1", "2"], ["5", "6"])) is False
    assert judged(before, run(["7", "8"], ["5", "6"])) is None


def test_data_are_a_change(folder: Path) -> None:
    document = prove(folder, "--drop", "data.csv: site == 2", "train.py", "--lr", "0.3", code=0)
    [version] = document["versions"]
    assert "100 of 400 rows of data.csv" in version["name"]
    compared = {one["what"]: one["same"] for one in version["compared"]}
    assert compared["training data"] is False
    assert compared["validation data"] is not False


def test_commits_and_a_patch(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        return subprocess.run(
            ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
        ).stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    edited(folder, "train.py", ("default=0.05", "default=0.5"))
    (folder / "more.bin").write_bytes(b"\xff\x00")
    (folder / "fix.diff").write_text(git("diff"))
    new, path = (folder / "train.py").read_text(), str((folder / "train.py").resolve())
    git("add", "train.py", "more.bin")
    git("commit", "-qm", "second")
    before, after = between("HEAD~1..HEAD", str(folder), tmp_path_factory.mktemp("store"))
    assert (before.sources, after.sources) == ({path: SCRIPT}, {path: new})
    binary = str((folder / "more.bin").resolve())
    assert before.files == {binary: ""}
    assert Path(after.files[binary]).read_bytes() == b"\xff\x00"
    document = prove(folder, "--quick", "--base", "HEAD~1", "train.py", code=0)
    assert (document["before"], document["answer"]) == ("HEAD~1", "better")
    git("checkout", "-q", "HEAD~1")
    assert as_patch(str(folder / "fix.diff"), str(folder)).sources == {path: new}


def test_a_script_that_failed_and_now_trains_is_better(folder: Path) -> None:
    edited(folder, "fixed.py")
    edited(folder, "train.py", ("nn.Linear(16, 3)", "nn.Linear(15, 3)"))
    document = prove(folder, "--with", "fixed.py", "train.py", code=0)
    assert "now it trains" in document["versions"][0]["reason"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["train.py"], "nothing to compare with"),
        (["--with", "train.py", "train.py"], "changes nothing"),
        (["--with", "gone.py", "train.py"], "cannot be read"),
        (["--set", "warmth=3", "train.py"], "no such knob"),
        (["--set", "lr=fast", "train.py"], "must be a number"),
        (["--patch", "data.csv", "train.py"], "no unified diff"),
        (["--file", "data.csv=gone.csv", "train.py"], "no file gone.csv"),
        (["--drop", "colour == red", "train.py"], "no such row"),
        (["--git", "main", "train.py"], "not of the form"),
        (["--base", "nowhere", "train.py"], "git"),
        (["--quick", "--sure", "--set", "lr=1", "train.py"], "exclude"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], text: str
) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, ["prove", *words])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "words", "merged"),
    [
        ((), "--lr 0.1", ("--lr", "0.1")),
        (("--lr", "1", "--epochs", "3"), "--lr 0.1", ("--epochs", "3", "--lr", "0.1")),
        (("--lr=1", "-v"), "--lr=0.1", ("-v", "--lr=0.1")),
        (("lr=1", "model=big"), "lr=0.1", ("model=big", "lr=0.1")),
        (("config.yaml", "--shift", "-1"), "--shift -2", ("config.yaml", "--shift", "-2")),
    ],
)
def test_arguments_are_replaced(args: tuple[str, ...], words: str, merged: tuple[str, ...]) -> None:
    assert as_arguments(args, words).args == merged


def test_settings_name_the_knobs_there_are() -> None:
    assert [one.name for one in as_settings("lr=1e-3,0.01", None, ())] == ["lr=1e-3", "lr=0.01"]
    with pytest.raises(NoVersion, match="weight_decay"):
        as_settings("lrate=1", None, ())


@given(
    st.lists(st.sampled_from(["a", "b", "c", "", "  x = 1"]), max_size=30),
    st.lists(st.sampled_from(["a", "b", "d", ""]), max_size=30),
    st.booleans(),
)
def test_a_patch_does_what_it_says(before: list[str], after: list[str], ends: bool) -> None:
    import tempfile

    end = "\n" if ends else ""
    old, new = ("\n".join(lines) + end for lines in (before, after))
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/x.py", "b/x.py")
    patch = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "x.py"
        path.write_text(old, newline="")
        texts = patched(patch, folder)
        assert texts.get(str(path), old) == new
        path.write_text("something else\n" * 3)
        if patch and any(line[:1] in "- " for line in patch.splitlines()[3:]):
            with pytest.raises(PatchError):
                patched(patch, folder)


@given(st.text(max_size=400))
def test_any_patch_is_taken_or_refused(text: str) -> None:
    with contextlib.suppress(PatchError):
        patched(text, "/nowhere")


def test_no_effect_is_seldom_called_one() -> None:
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(1000):
        gains = rng.normal(0, 0.1, size=USUAL.most).tolist()
        looks = [decide(gains[:n], [0.0] * n, USUAL) for n in range(1, USUAL.most + 1)]
        first = next((look.answer for look in looks if look.final), "cannot tell")
        wrong += first in ("better", "worse")
    assert wrong <= 50


def test_a_clear_effect_is_seen_early() -> None:
    rng = np.random.default_rng(1)
    needed = []
    for _ in range(200):
        gains = rng.normal(0.4, 0.05, size=USUAL.most).tolist()
        answers = [decide(gains[:n], [0.01] * n, USUAL).answer for n in range(1, USUAL.most + 1)]
        needed.append(answers.index("better") + 1)
    assert np.median(needed) <= 4
