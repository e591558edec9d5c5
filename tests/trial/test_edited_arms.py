"""Trials of trainings that cannot be changed while they run: the edited script is the arm."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(find_spec("optax") is None, reason="needs jax and optax")

SCRIPT = """import jax
import optax

centres = jax.random.normal(jax.random.PRNGKey(0), (4, 8))
y = jax.random.randint(jax.random.PRNGKey(1), (200,), 0, 4)
x = centres[y] + jax.random.normal(jax.random.PRNGKey(2), (200, 8))
params = 0.1 * jax.random.normal(jax.random.PRNGKey(3), (8, 4))
learning_rate = 30.0
tx = optax.sgd(learning_rate)
state = tx.init(params)


def loss_fn(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(x @ params, y).mean()


@jax.jit
def step(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


for epoch in range(12):
    for at in range(0, 160, 16):
        params, state, loss = step(params, state, x[at : at + 16], y[at : at + 16])
    print(f"epoch {epoch} loss {float(loss):.4f} val_loss {float(loss_fn(params, x[160:], y[160:])):.4f}")
"""


def traindx(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "traindx", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("jax")
    (folder / "train.py").write_text(SCRIPT)
    done = traindx(folder, "try", "--seeds", "2", "lower_lr", "train.py")
    return folder, done.stdout + done.stderr


def test_a_remedy_is_tried_as_an_edit(tried: tuple[Path, str]) -> None:
    folder, text = tried
    assert "12 epochs" in text
    assert "learning_rate = 0.3" in (folder / "treatment" / "fixed_train.py").read_text()
    assert (folder / "train.py").read_text() == SCRIPT
    assert "torch" not in text


def test_further_seeds_are_other_trainings(tried: tuple[Path, str]) -> None:
    """Seeds of JAX are moved like all others: pairs of different seeds do not repeat the same numbers."""
    folder, _ = tried
    result = json.loads((folder / "treatment" / "results.json").read_text())
    verdicts = [trial["verdict"] for trial in result["rounds"][0]["trials"]]
    pairs = max((verdict["pairs"] for verdict in verdicts), key=len)
    assert len(pairs) > 1
    assert len({json.dumps(pair["before"]) for pair in pairs}) == len(pairs)


def test_a_proof_that_was_a_trial_is_not_run_again(tried: tuple[Path, str]) -> None:
    folder, text = tried
    result = json.loads((folder / "treatment" / "results.json").read_text())
    # The script, three sizes of the change, a further pair.
    assert result["cost"]["arms"] <= 1 + 3 + 2, text


def test_what_has_no_edit_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = traindx(tmp_path, "try", "add_normalisation", "train.py")
    text = done.stdout + done.stderr
    assert "tried" not in text.split("cost")[0]
    assert "1 run of the script" in text
    assert "torch" not in text
