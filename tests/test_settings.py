"""Settings files: found upwards, checked key by key, errors that name the way out."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from traindx.core.settings import BadSettings, Settings, check_thresholds, load


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_no_file_is_no_settings(tmp_path: Path) -> None:
    assert load(tmp_path) == Settings()


def test_pyproject_above_the_working_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", '[tool.traindx.map]\nloss = "objective"\n"val/loss" = "dev"\n')
    (tmp_path / "a" / "b").mkdir(parents=True)
    found = load(tmp_path / "a" / "b")
    assert found.map == {"loss": "objective", "val/loss": "dev"}
    assert found.path == str(path)


def test_the_nearest_file_counts_and_traindx_toml_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.traindx.map]\nloss = "far"\n')
    write(tmp_path / "a" / "pyproject.toml", '[tool.traindx.map]\nloss = "near"\n')
    assert load(tmp_path / "a").map == {"loss": "near"}
    write(tmp_path / "a" / "traindx.toml", '[map]\nloss = "own"\n[thresholds.loss_spike]\nfactor = 4\n')
    found = load(tmp_path / "a")
    assert found.map == {"loss": "own"}
    assert found.thresholds == {"loss_spike": {"factor": 4}}


def test_a_pyproject_without_our_table_is_passed_by(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.traindx.map]\nloss = "far"\n')
    write(tmp_path / "a" / "pyproject.toml", '[project]\nname = "traindx-user"\n')
    write(tmp_path / "a" / "b" / "pyproject.toml", "this is [not TOML but nobody's business")
    assert load(tmp_path / "a" / "b").map == {"loss": "far"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[tool.traindx]\nmpa = 1\n",
            "unknown key 'mpa' (did you mean 'map'?). Known keys: map, thresholds.",
        ),
        ("[tool.traindx]\nmap = 3\n", "map must be a table"),
        ("[tool.traindx.map]\nloss = 3\n", "map.loss must be the name of a column; got 3"),
        ('[tool.traindx.map]\nloss = ""\n', "map.loss must be the name of a column"),
        ("[tool]\ntraindx = 1\n", "tool.traindx must be a table"),
        ("[tool.traindx]\nthresholds = []\n", "thresholds must be a table"),
        ("[tool.traindx.thresholds]\nloss_spike = 4\n", "thresholds.loss_spike must be a table"),
        (
            "[tool.traindx.thresholds.loss_spike]\nfactor = [1]\n",
            "thresholds.loss_spike.factor must be a single value",
        ),
        ("[tool.traindx\n", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path / "pyproject.toml", text)
    with pytest.raises(BadSettings) as caught:
        load(tmp_path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8_are_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "traindx.toml").write_bytes(b"[map]\nloss = '\xff\xfe'\n")
    with pytest.raises(BadSettings, match="not valid TOML"):
        load(tmp_path)


def loss_spike(
    run: object, *, factor: float = 4.0, window: int = 50, log: bool = False, kind: str = "mad"
) -> None:
    """Stands for a detector."""


SIGNATURES = {"loss_spike": inspect.signature(loss_spike), "nan_loss": inspect.signature(lambda run: run)}


def test_thresholds_that_fit() -> None:
    fitting = {"loss_spike": {"factor": 3, "window": 20, "log": True, "kind": "iqr"}, "nan_loss": {}}
    assert check_thresholds(fitting, SIGNATURES) == []


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"los_spike": {"factor": 1}}, "no detector is called 'los_spike' (did you mean 'loss_spike'?)"),
        ({"zzz": {}}, "no detector is called 'zzz'"),
        ({"loss_spike": {"factr": 1}}, "loss_spike has no threshold 'factr' (did you mean 'factor'?)"),
        ({"loss_spike": {"run": 1}}, "loss_spike has no threshold 'run'"),
        ({"nan_loss": {"factor": 1}}, "nan_loss has no threshold 'factor'"),
        (
            {"loss_spike": {"factor": "4"}},
            "loss_spike.factor must be a number (it is 4.0 by default), not '4'",
        ),
        ({"loss_spike": {"factor": True}}, "must be a number"),
        ({"loss_spike": {"factor": float("nan")}}, "must be a number"),
        ({"loss_spike": {"window": 2.5}}, "must be a whole number (it is 50 by default), not 2.5"),
        ({"loss_spike": {"log": 1}}, "must be true or false (it is False by default), not 1"),
        ({"loss_spike": {"kind": 1}}, "must be a text"),
    ],
)
def test_thresholds_that_do_not_fit(overrides: dict[str, dict[str, object]], told: str) -> None:
    errors = check_thresholds(overrides, SIGNATURES)  # type: ignore[arg-type]
    assert len(errors) == 1
    assert told in errors[0]
