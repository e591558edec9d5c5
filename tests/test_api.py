"""The functions of `traindx` do what the commands do; the examples of docs/python.md are run."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import traindx

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
VERBS = "ask brief compare confirm diagnose lint log lr_find preflight prove read treat watch".split()


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "missing_zero_grad" in done.stdout
    assert re.search(r"^treated ", done.stdout, re.MULTILINE), done.stdout


def test_the_page_shows_every_verb() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"traindx.{verb}" not in text] == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_typed_and_documented(verb: str) -> None:
    function = getattr(traindx, verb)
    assert inspect.getdoc(function)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(one.annotation is not inspect.Parameter.empty for one in signature.parameters.values())


def test_importing_a_room_does_not_hide_a_function() -> None:
    rooms = "traindx.comparison.compare, traindx.interview.session, traindx.evidence.lint"
    code = f"import {rooms}; import traindx; "
    code += "assert all(callable(getattr(traindx, verb)) for verb in " + repr(VERBS) + ")"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda: traindx.treat("nowhere.py"),
        lambda: traindx.confirm("nowhere.py"),
        lambda: traindx.prove("nowhere.py", settings={"lr": 0.1}),
        lambda: traindx.preflight("nowhere.py"),
        lambda: traindx.preflight(object()),
        lambda: traindx.compare(),
        lambda: traindx.ask(complaint="qwertz"),
        lambda: traindx.ask(answers={"no_such_question": 1}),
    ],
)
def test_what_cannot_be_done_is_one_line(
    call: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"\w") as error:
        call()
    assert "\n" not in str(error.value)
