"""Hostile names of runs, files, metrics and settings, through every report of logs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from tests.hostile.names import FILES, NAMES
from tests.hostile.pages import Page, check_page, markdown_shape
from traindx.cli import cli

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TAME = "name"
# All names in one run, a run for each, and each of them by itself.
PLACES = ["together", "apart", *(pytest.param(name, marks=pytest.mark.long) for name in NAMES)]
EACH = pytest.mark.parametrize("place", PLACES)


@pytest.fixture(autouse=True)
def exceptions_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_DEBUG", "1")
    monkeypatch.setenv("COLUMNS", "100")


def write(folder: Path, names: Sequence[str], seed: int = 0) -> None:
    """A log whose metrics and settings have the names; its loss becomes NaN."""
    folder.mkdir(parents=True)
    losses = 2.0 * np.exp(-np.arange(80) / 20) + 0.05 * np.random.default_rng(seed).random(80)
    losses[50 + seed % 9 :] = np.nan
    rows = [
        {"step": step, "loss": loss, "lr": 0.1}
        | dict.fromkeys(names, step)
        | {f"{kind}/{name}": 1 / (step + 1) for name in names for kind in ("val", "lr")}
        for step, loss in enumerate(losses.tolist())
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = {"lr": 0.1, "seed": seed, "optimizer": names[0], "model": {name: [name] for name in names}}
    settings |= {name: name for name in names}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("logs")
    for number, (key, name) in enumerate([*NAMES.items(), (TAME, TAME)]):
        write(top / key / FILES.get(key, "run"), [name])
        write(top / key / "other", [name], 1)
        if key != TAME:
            write(top / "apart" / FILES.get(key, "run"), [name], number)
    for number in range(2):
        write(top / "together" / f"\x1b]0;t\x07<b>\u202e`|$x^$\n{number}", list(NAMES.values()), number)
    return top


def call(*words: object) -> Result:
    result = CliRunner().invoke(cli, [str(word) for word in words], color=True)
    assert result.exit_code in (0, 1), (words, result.output)
    return result


def one_and_all(logs: Path, place: str) -> list[Path]:
    """A run by itself, and all of them."""
    return [min((logs / place).iterdir()), logs / place]


def printable(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@EACH
@pytest.mark.parametrize("command", ["inspect", "diagnose", "compare"])
def test_terminal(logs: Path, place: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in one_and_all(logs, place)[command == "compare" :]:
        for options in ((), ("-a",)):
            text = call(command, *options, path).stdout
            assert printable(text)
            assert max(map(cell_len, text.splitlines())) <= 100
        with monkeypatch.context() as change:
            change.setenv("FORCE_COLOR", "1")
            text = call(command, path).stdout
            assert "\x1b[" in text
            assert printable(_COLOUR.sub("", text))


def texts(value: object) -> Iterator[str]:
    """Every text in a JSON document."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str):
        yield value


@EACH
@pytest.mark.parametrize("command", ["inspect", "diagnose", "compare"])
def test_json(logs: Path, place: str, command: str) -> None:
    for path in one_and_all(logs, place)[command == "compare" :]:
        text = call(command, "--json", path).stdout
        assert printable(text)
        held = "\n".join(texts(json.loads(text)))
        if command == "inspect" and place in NAMES:
            assert NAMES[place].encode("utf-8", "surrogatepass").decode("utf-8", "replace")[:60] in held


@EACH
@pytest.mark.parametrize("command", ["diagnose", "compare"])
def test_markdown(logs: Path, place: str, command: str) -> None:
    """No markup that a name made; by itself it makes the same headings and tables as a harmless one."""
    for at, path in enumerate(one_and_all(logs, place)[command == "compare" :]):
        text = call(command, "--md", "-", path).stdout
        assert printable(text)
        shape = markdown_shape(text)
        if place in NAMES:
            tame = one_and_all(logs, TAME)[command == "compare" :][at]
            assert shape == markdown_shape(call(command, "--md", "-", tame).stdout)


@EACH
@pytest.mark.parametrize("command", ["diagnose", "compare"])
def test_html(logs: Path, tmp_path: Path, place: str, command: str) -> None:
    for key in (place, TAME):
        call(command, "--html", tmp_path / f"{key}.html", logs / key)
    hostile, tame = (Page((tmp_path / f"{key}.html").read_text(encoding="utf-8")) for key in (place, TAME))
    check_page(hostile)
    assert hostile.programs == tame.programs


@EACH
def test_pictures(logs: Path, tmp_path: Path, place: str) -> None:
    from matplotlib.image import imread

    path = logs / place if place in NAMES else min((logs / place).iterdir())
    call("inspect", "--plots", tmp_path / "inspect", path)
    call("diagnose", "--plots", tmp_path / "diagnose", path)
    call("compare", "--plots", tmp_path / "compare", logs / place)
    drawn = sorted(tmp_path.rglob("*.png"))
    assert len(drawn) >= 4
    for picture in drawn:
        assert re.fullmatch(r"[\w.-]+", picture.name)
        assert imread(picture).ndim == 3


@EACH
def test_csv_holds_no_formula(logs: Path, place: str) -> None:
    """Text begins with nothing a spreadsheet takes for a formula; numbers stay numbers."""
    plain = list(csv.reader(io.StringIO(call("inspect", "--csv", "-", logs / place).stdout)))
    raw = list(csv.reader(io.StringIO(call("inspect", "--csv", "-", "--csv-raw", logs / place).stdout)))
    assert len(plain) == len(raw) > 100
    for row, before in zip(plain[1:], raw[1:], strict=True):
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row[:3])
        assert [cell.removeprefix("'") for cell in row[:3]] == [cell.removeprefix("'") for cell in before[:3]]
        assert row[3:] == before[3:]
        float(row[4])
    if place in ("formula", "together"):
        assert {row[2] for row in raw[1:]} >= {NAMES["formula"]}


def test_csv_of_numbers_and_formulas() -> None:
    from traindx.report.runs_csv import _as_text

    for number in ("-1.5", "+2", "-1e-5", "-.5", "1"):
        assert _as_text(number) == number
    for formula in ("=1+1", "+1+1", "-1+1", "@sum(a1)", " =1", "\uff1d1", "-", "-2+cmd|' /C x'!A0", "-inf"):
        assert _as_text(formula) == f"'{formula}"
    assert _as_text("loss") == "loss"
