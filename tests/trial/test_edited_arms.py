"""Trials of trainings that cannot be changed while they run: the edited script is the arm."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from traindx.experiment.edit import Edited, edit_for_all
from traindx.experiment.edited_arms import unreachable
from traindx.experiment.runtime.change import Change
from traindx.source.script import parse_script

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
    assert "120 steps" in text
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
    # The script, three sizes of the change, the best of them at full length, a further pair.
    assert result["cost"]["arms"] <= 1 + 3 + 1 + 2, text


def test_what_has_no_edit_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = traindx(tmp_path, "try", "add_normalisation", "train.py")
    text = done.stdout + done.stderr
    assert "tried" not in text.split("cost")[0]
    assert "1 run of the script" in text
    assert "torch" not in text


BY_HAND = """import jax


@jax.jit
def step(params, x, y, lr{default}):
    loss, grads = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda w, g: w - lr * g, params, grads), loss


{before}
for x, y in batches:
    params, loss = step(params, x, y{given})
"""


@pytest.mark.parametrize(
    ("default", "before", "given", "written"),
    [
        ("", "lr = 1.0", ", lr", "lr = 0.1"),
        ("=1.0", "", "", "lr=0.1)"),
        ("", "", ", 1.0", "step(params, x, y, 0.1)"),
    ],
)
def test_the_rate_of_a_step_without_an_optimizer_is_edited(
    default: str, before: str, given: str, written: str
) -> None:
    script = parse_script(BY_HAND.format(default=default, before=before, given=given))
    assert unreachable(script) == "JAX"
    edit = edit_for_all(script, (Change("scale_lr", {"factor": 0.1}),))
    assert isinstance(edit, Edited)
    assert written in next(iter(edit.sources.values()))
