"""Hostile names of scripts, folders and layers, through recordings, lint and the reports of a treatment."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from click.testing import CliRunner, Result

from tests.hostile.names import FILES, NAMES
from tests.hostile.pages import Page, check_page, markdown_shape
from tests.run_scripts.calling import call as run
from traindx.cli import cli

SCRIPT = Path(__file__).parent / "scripts" / "named.py"
FORGETS = Path(__file__).parents[1] / "trial" / "scripts" / "sums_gradients.py"
FOLDER = "\x1b]0;t\x07<b>\u202e\n$x^$\udcfe"
NAME = '\x1b[2J\x9b\u202e<img src=x onerror=alert(1)>`|$x^$\n+++ b\\x\n[a](http:b)&lt; "=1 ' + "y" * 150
_URI = re.compile(r"(?:file://)?(?:[\w.~!$&'()*+,;=@/-]|%[0-9A-F]{2})+", re.ASCII)


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], color=True)


def printable(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.fixture(autouse=True)
def exceptions_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_DEBUG", "1")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real recording: script and folder, layers, metrics, printed lines and the error have the names."""
    place = tmp_path_factory.mktemp("recorded") / FOLDER
    place.mkdir()
    shutil.copy(SCRIPT, place / f"{NAME}.py")
    names = json.dumps([name for name in NAMES.values() if name.strip()])
    words = [sys.executable, "-m", "traindx", "run", "--out", "rec", "--quiet", f"{NAME}.py"]
    done = run(words, place, NAMES=names)
    assert done.code == 1
    assert "RuntimeError" in done.err
    return place / "rec"


def test_a_recording_through_every_report(recording: Path, tmp_path: Path) -> None:
    for words in (["inspect"], ["inspect", "-a"], ["diagnose"], ["diagnose", "-a"], ["confirm", "--dry-run"]):
        result = call(*words, recording)
        assert result.exit_code in (0, 1), result.output
        assert printable(result.output)
    for command in ("inspect", "diagnose"):
        text = call(command, "--json", recording).stdout
        assert printable(text)
        json.loads(text)
    markdown_shape(call("diagnose", "--md", "-", recording).stdout)
    call("diagnose", "--html", tmp_path / "page.html", recording)
    check_page(Page((tmp_path / "page.html").read_text(encoding="utf-8")))
    for command in ("inspect", "diagnose"):
        assert call(command, "--plots", tmp_path / command, recording).exit_code in (0, 1)
        assert list((tmp_path / command).rglob("*.png"))


def test_the_names_are_in_the_recording(recording: Path) -> None:
    """Else the tests here would test nothing."""
    text = call("inspect", "--json", recording).stdout
    held = json.dumps(json.loads(text), ensure_ascii=False)
    for name in ("ansi", "c1", "bidi", "html", "mathtext"):
        assert json.dumps(NAMES[name][:30], ensure_ascii=False)[1:-1] in held, name


def test_lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [*FILES.values(), NAME]:
        shutil.copy(FORGETS, tmp_path / f"{name}.py")
    (tmp_path / "no\x1bpython.py").write_text('x = "\\d"\nfor (:\n')
    text = call("lint", ".")
    assert text.exit_code == 1
    assert printable(text.output)
    assert text.stderr.count("Warning: ") == 1
    document = call("lint", "--json", ".").stdout
    assert printable(document)
    assert len(json.loads(document)["runs"]) == len(FILES) + 1


def test_python_says_nothing_of_a_script_that_is_read(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """It would warn of such strings, with the name of the file as it is."""
    script = tmp_path / "\x1b]0;t\x07.py"
    script.write_text('import torch\nname = "\\d"\n' + FORGETS.read_text(encoding="utf-8"))
    result = call("lint", "--json", script)
    assert result.exit_code == 1, result.output
    assert result.stderr == ""
    assert json.loads(result.stdout)["verdict"] == "problem"
    assert not recwarn.list


@pytest.mark.parametrize("absolute", [False, True])
def test_sarif_names_the_files_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absolute: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [*FILES.values(), NAME]:
        shutil.copy(FORGETS, tmp_path / f"{name}.py")
    text = call("lint", "--sarif", "-", tmp_path if absolute else ".").stdout
    assert printable(text)
    (made,) = json.loads(text)["runs"]
    uris = set()
    for result in made["results"]:
        assert "](" not in re.sub(r"\\\[[^\]]*\]\(", "", result["message"]["text"])
        (location,) = result["locations"]
        uris.add(location["physicalLocation"]["artifactLocation"]["uri"])
        for fix in result.get("fixes", ()):
            uris |= {change["artifactLocation"]["uri"] for change in fix["artifactChanges"]}
    assert all(_URI.fullmatch(uri) for uri in uris), uris
    assert {urlsplit(uri).scheme for uri in uris} == {"file" if absolute else ""}
    files = {os.path.realpath(unquote_to_bytes(uri.removeprefix("file://"))) for uri in uris}
    assert files == {os.fsencode(path.resolve()) for path in tmp_path.iterdir()}


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")
def test_a_treatment_and_its_reports(tmp_path: Path) -> None:
    """From the first run to a patch that git applies, in a folder and of a script with hostile names."""
    place = tmp_path / FOLDER
    place.mkdir()
    name = f"{NAME}\udcff.py"
    shutil.copy(FORGETS, place / name)
    words = [sys.executable, "-m", "traindx", "treat", "--time-budget", "4m", "--seeds", "2", name]
    done = subprocess.run(words, cwd=place, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    assert printable(said)
    out = place / "treatment"
    for page in ("diagnostic_report.md", "optimization_recommendations.md"):
        text = (out / page).read_text(encoding="utf-8")
        assert printable(text)
        markdown_shape(text)
    for document in out.glob("*.json"):
        json.loads(document.read_bytes())
        assert printable(document.read_text(encoding="utf-8"))
    check_page(Page((out / "report.html").read_text(encoding="utf-8")))
    assert (out / "training_comparison.png").stat().st_size > 10_000
    (fixed,) = [path for path in out.iterdir() if path.name.startswith("fixed_")]
    for tool in (["git", "apply", "treatment/fix.patch"], ["patch", "-p1", "-i", "treatment/fix.patch"]):
        shutil.copy(FORGETS, place / name)
        applied = subprocess.run(tool, cwd=place, capture_output=True, check=False)
        assert applied.returncode == 0, applied.stderr
        assert (place / name).read_bytes() == fixed.read_bytes()
