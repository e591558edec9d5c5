"""The framework of a script is named before a command begins; what cannot work there is refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from traindx.cli import cli
from traindx.observe.frameworks import of_script

SCRIPTS = {
    "import torch\nfrom sklearn.datasets import load_digits\n": "PyTorch",
    "import tensorflow as tf\nmodel = tf.keras.Sequential()\n": "Keras 3 on TensorFlow",
    "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\n": "Keras 3 on JAX",
    "import jax, optax\nfrom flax import nnx\nimport torch.utils.data\n": "Flax on JAX with optax",
    "import jax\n": "JAX",
    "import lightning.pytorch as pl\nimport torch\n": "Lightning on PyTorch",
    "from sklearn.neural_network import MLPClassifier\n": "scikit-learn",
    "import xgboost\nfrom sklearn.model_selection import train_test_split\n": "XGBoost",
    "import numpy\n": None,
    "this is no Python\n": None,
}


@pytest.mark.parametrize(("text", "name"), SCRIPTS.items())
def test_named_by_imports(tmp_path: Path, text: str, name: str | None) -> None:
    (tmp_path / "train.py").write_text(text)
    found = of_script(tmp_path / "train.py")
    assert (found.name if found else None) == name


def test_modules_next_to_the_script_are_followed(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "__init__.py").write_text("from .layers import Net\n")
    (tmp_path / "net" / "layers.py").write_text("import equinox as eqx\nimport train\n")
    (tmp_path / "train.py").write_text("from net import Net\nimport missing_module\n")
    found = of_script(tmp_path / "train.py")
    assert found is not None
    assert found.line.startswith("Equinox on JAX: loss, ")


@pytest.mark.parametrize("command", ["confirm", "treat", "preflight", "lr-find"])
@pytest.mark.parametrize("library", ["sklearn", "xgboost"])
def test_no_trials_where_nothing_can_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, library: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(f"import {library}\nopen('ran', 'w')\n")
    done = CliRunner().invoke(cli, [command, "train.py"])
    assert done.exit_code == 2
    (line,) = done.stderr.strip().splitlines()
    assert f"{command} does not work for" in line
    assert "Use traindx run, diagnose or lint." in line
    assert "torch" not in line
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", ["preflight", "lr-find"])
def test_what_jax_compiles_is_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("import jax, optax\n")
    done = CliRunner().invoke(cli, [command, "train.py"])
    assert done.exit_code == 2
    assert f"{command} does not work for JAX with optax: what it compiles cannot be changed." in done.stderr
