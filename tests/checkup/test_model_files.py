"""Models from files with samples from files: every pair of a kind gives the numbers of the plain objects."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result
from PIL import Image
from torch import nn

import traindx
from traindx.cli import cli

SCRIPT = """
import torch
from torch import nn
def make():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
def longer():
    return nn.Sequential(*make(), nn.Linear(3, 3))
def narrow():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
def pictures():
    pool = nn.AdaptiveAvgPool2d(1)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), pool, nn.Flatten(), nn.Linear(4, 2))
def one():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained net in every format, and its data in every format."""
    place = tmp_path_factory.mktemp("files")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    inputs = torch.randn(256, 6)
    classes = inputs[:, :3].argmax(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
    (place / "train.py").write_text(SCRIPT)
    torch.save(
        {"model": {f"module.{k}": v for k, v in model.state_dict().items()}, "epoch": 3}, place / "model.pt"
    )
    torch.save(model, place / "whole.pt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls TorchScript deprecated
        torch.jit.script(model).save(str(place / "script.pt"))
        dynamic = ({0: torch.export.Dim("rows")},)
        program = torch.export.export(model, (inputs[:4],), dynamic_shapes=dynamic)
        torch.export.save(program, place / "model.pt2")
    rows, labels = inputs.numpy(), classes.numpy()
    np.savez(place / "data.npz", x=rows, y=labels)
    np.save(place / "x.npy", rows)
    np.save(place / "labels.npy", labels)
    torch.save((inputs, classes), place / "data.pt")
    records = [
        {**{f"f{i}": float(v) for i, v in enumerate(row)}, "label": int(label)}
        for row, label in zip(rows, labels, strict=True)
    ]
    (place / "data.jsonl").write_text("\n".join(map(json.dumps, records)))
    lines = [",".join(records[0]), *(",".join(map(str, one.values())) for one in records)]
    (place / "data.csv").write_text("\n".join(lines))
    random = np.random.default_rng(0)
    for kind in ("cat", "dog"):
        (place / "images" / kind).mkdir(parents=True)
        for at in range(12):
            pixels = random.integers(0, 255, (12, 12, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(place / "images" / kind / f"{at}.png")
    return place


def check(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        return CliRunner().invoke(cli, ["check", *arguments])


@pytest.mark.parametrize("data", ["data.npz", "data.pt", "data.jsonl", "data.csv"])
def test_samples_of_every_kind_give_the_same(
    folder: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    diagnosis = traindx.check("model.pt", data, model="train.py:make")
    facts = diagnosis.run.facts
    assert diagnosis.problems == ()
    assert facts["loading"] == {"missing": [], "unexpected": [], "other_shape": [], "loaded": 4, "tensors": 4}
    assert "target " in facts["checked"]["chosen"]
    stored = np.load(folder / "data.npz")
    plain = torch.load(folder / "whole.pt", weights_only=False)
    losses = nn.functional.cross_entropy(
        plain(torch.from_numpy(stored["x"])), torch.from_numpy(stored["y"]), reduction="none"
    )
    assert facts["loss_check"]["loss"] == pytest.approx(float(losses.detach().mean()), rel=1e-3)
    assert facts["hardest"][0]["index"] == int(losses.argmax())


def test_layers_that_the_checkpoint_lacks(folder: Path) -> None:
    lacking = check(folder, "model.pt", "--model", "train.py:longer", "--data", "data.npz")
    assert lacking.exit_code == 1
    assert "2 are not in the checkpoint (3.weight, 3.bias)" in " ".join(lacking.stdout.split())
    other = check(folder, "model.pt", "--model", "train.py:narrow", "--data", "data.npz")
    assert other.exit_code == 1
    assert "have another shape" in " ".join(other.stdout.split())
    none = check(folder, "model.pt", "--model", "train.py:pictures", "--data", "data.npz")
    assert none.exit_code == 2
    assert "none of its 4 tensors fits" in none.stderr


@pytest.mark.parametrize("name", ["script.pt", "model.pt2", "whole.pt"])
def test_programs_are_run_only_when_trusted(folder: Path, name: str) -> None:
    refused = check(folder, name, "--data", "data.npz")
    assert refused.exit_code == 2
    assert "--trust-code" in refused.stderr
    assert refused.stderr.count("\n") == 1
    trusted = check(folder, name, "--data", "data.npz", "--trust-code", "--json")
    assert trusted.exit_code == 0, trusted.stderr
    assert json.loads(trusted.stdout)["measured"]["loss_check"]["classes"] == 3


def test_images_and_numbers(folder: Path) -> None:
    assert check(folder, "train.py:pictures", "--data", "images").exit_code == 0
    assert check(folder, "train.py:make", "--data", "x.npy", "--target", "labels.npy").exit_code == 0
    one = check(folder, "train.py:one", "--data", "data.csv", "--target", "f0", "--json")
    assert one.exit_code == 0, one.stderr
    assert "target f0; loss mse" in json.loads(one.stdout)["measured"]["checked"]["chosen"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["model.pt", "--data", "data.npz"], "name the function that makes it"),
        (["train.py:make", "--data", "x.npy"], "Name it by --target"),
        (["train.py:make", "--data", "data.npz", "--target", "z"], "has no z: it holds x, y"),
        (["train.py:make", "--data", "absent.csv"], "no such file"),
        (["train.py:make", "--data", "images"], "do not take the batch"),
        (["absent.pt", "--data", "data.npz", "--model", "train.py:make"], "no such file"),
        (["data.csv", "--data", "data.npz"], "give a model"),
        (["train.py:make", "--data", "data.npz", "--loss", "nonsense"], "there is no loss nonsense"),
        (["train.py:make", "--data", "data.npz", "--loss", "absent.py:loss"], "no such file"),
    ],
)
def test_bad_input_gives_one_line(folder: Path, arguments: list[str], line: str) -> None:
    result = check(folder, *arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert line in result.stderr


def test_a_model_of_keras(folder: Path) -> None:
    """In processes of its own: Keras chooses its backend once."""
    pytest.importorskip("keras")
    make = (
        "import os, sys; os.environ['KERAS_BACKEND'] = 'torch'\n"
        "import keras\n"
        "layers = [keras.layers.Dense(16, activation='relu'), keras.layers.Dense(3)]\n"
        "keras.Sequential([keras.Input((6,)), *layers]).save('model.keras')\n"
        "odd = keras.layers.Lambda(lambda x: x * 2)\n"
        "keras.Sequential([keras.Input((6,)), odd, keras.layers.Dense(3)]).save('code.keras')\n"
    )
    subprocess.run([sys.executable, "-c", make], cwd=folder, check=True, capture_output=True)
    command = [sys.executable, "-m", "traindx", "check", "model.keras", "--data", "data.npz", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["measured"]
    assert measured["loss_check"]["classes"] == 3
    shown = {row["name"]: row for row in measured["activations"]}
    assert len(shown) == 2
    assert 0 < shown["dense"]["zero_share"] < 1
    assert {row["name"] for row in measured["gradients"]} >= {"dense.kernel", "dense_1.bias"}
    command[4] = "code.keras"
    refused = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (refused.returncode, "Lambda layer" in refused.stderr) == (2, True), refused.stderr
