"""Edits keep what a file is: line ends, tabs, marks, encodings, comments; configurations keep theirs, too."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from traindx.core.nouns import Run
from traindx.experiment.edit import Edited, Instruction, edit_for, encoded
from traindx.experiment.edit.calls import with_keyword, without
from traindx.experiment.edit.new_number import NewNumber, plain
from traindx.source.script import read_script

from .test_editing import LOOP, PLAIN, asked, edit, with_


def bytes_after(path: Path, change: str) -> bytes:
    made = edit_for(read_script(path), asked(change))
    assert isinstance(made, Edited), made
    return encoded(path, made.sources[str(path)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (lambda raw: raw.replace(b"\n", b"\r\n"), lambda raw: raw.replace(b"\n", b"\r\n")),
        (lambda raw: b"\xef\xbb\xbf" + raw, lambda raw: b"\xef\xbb\xbf" + raw),
        (lambda raw: raw.replace(b"    ", b"\t"), lambda raw: raw.replace(b"    ", b"\t")),
        (lambda raw: raw.rstrip(b"\n"), lambda raw: raw.rstrip(b"\n")),
        (
            lambda raw: "# coding: latin-1\n# Größe\n".encode("latin-1") + raw,
            lambda raw: "# coding: latin-1\n# Größe\n".encode("latin-1") + raw,
        ),
        (lambda raw: b"# a\x0cpage\n" + raw, lambda raw: b"# a\x0cpage\n" + raw),
    ],
)
@pytest.mark.parametrize(
    "change", ["scale_lr factor=0.1", "clip_norm limit=1.0", "warm_up steps=10", "shuffle_data"]
)
def test_file_stays_what_it_is(tmp_path: Path, before, after, change: str) -> None:  # type: ignore[no-untyped-def]
    plain_path, path = tmp_path / "plain.py", tmp_path / "train.py"
    plain_path.write_bytes(PLAIN.encode())
    path.write_bytes(before(PLAIN.encode()))
    assert bytes_after(path, change) == after(bytes_after(plain_path, change))


YAML = "# settings\ntrain:\n  lr: 0.1  # the rate\n  batch: 16\nmodel: {width: 8}\n"
TOML = "# settings\n[train]\nlr = 0.1  # the rate\nbatch = 16\n[model]\nlr = 5\n"
JSON = '{\n  "train": {"lr": 0.1, "batch": 16},\n  "model": {"width": 8}\n}\n'


@pytest.mark.parametrize(
    ("name", "text", "load", "parse"),
    [
        ("c.yaml", YAML, "import yaml\ncfg = yaml.safe_load(open('c.yaml'))", yaml.safe_load),
        (
            "c.toml",
            TOML,
            "import tomllib\nwith open('c.toml', 'rb') as f:\n    cfg = tomllib.load(f)",
            tomllib.loads,
        ),
        (
            "c.json",
            JSON,
            "import json, pathlib\ncfg = json.loads(pathlib.Path('c.json').read_text())",
            json.loads,
        ),
    ],
)
def test_configuration_is_where_the_value_comes_from(  # type: ignore[no-untyped-def]
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, load: str, parse
) -> None:
    monkeypatch.chdir(tmp_path)
    optimizer = f"{load}\noptimizer = torch.optim.SGD(model.parameters(), lr=cfg['train']['lr'])"
    Path("train.py").write_text(with_(optimizer=optimizer), encoding="utf-8")
    Path(name).write_bytes(text.replace("\n", "\r\n").encode())
    made = edit_for(read_script("train.py"), asked("scale_lr factor=0.1"))
    assert isinstance(made, Edited)
    assert "train.lr" in made.text
    (path, new), *rest = made.sources.items()
    assert (Path(path).name, rest) == (name, [])
    assert new == text.replace("0.1", "0.01").replace("\n", "\r\n")
    assert parse(new)["train"]["lr"] == pytest.approx(0.01)


def test_small_number_in_yaml_stays_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    optimizer = (
        "import yaml\ncfg = yaml.safe_load(open('c.yaml'))\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=cfg['lr'])"
    )
    Path("train.py").write_text(with_(optimizer=optimizer), encoding="utf-8")
    Path("c.yaml").write_text("lr: 0.00001\n", encoding="utf-8")
    made = edit_for(read_script("train.py"), asked("scale_lr factor=0.1"))
    assert isinstance(made, Edited)
    assert yaml.safe_load(next(iter(made.sources.values()))) == {"lr": pytest.approx(1e-6)}


def test_configuration_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = with_(
        optimizer="import yaml\ncfg = yaml.safe_load(open('none.yaml'))\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=cfg['lr'])"
    )
    made = edit(source, "scale_lr factor=0.1")
    assert isinstance(made, Edited)
    assert "lr=cfg['lr'] * 0.1" in made.sources["train.py"]


def test_recording_that_shows_another_number_makes_the_literal_doubtful() -> None:
    facts = {"optimizers": [{"groups": [{"lr": 0.7}]}]}
    run = Run("r", "r", ("x",), "step", {}, facts=facts)
    source = with_(optimizer="LR = 0.1\noptimizer = torch.optim.SGD(model.parameters(), lr=LR)")
    made = edit(source, "scale_lr factor=0.1", run=run)
    assert isinstance(made, Edited)
    assert "lr=LR * 0.1" in made.sources["train.py"], "something else sets LR before the optimizer is made"


def test_module_beside_the_script_is_edited(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("LR = 0.1\n", encoding="utf-8")
    main = tmp_path / "train.py"
    main.write_text(
        with_(optimizer="from settings import LR\noptimizer = torch.optim.SGD(model.parameters(), lr=LR)")
    )
    made = edit_for(read_script(main), asked("scale_lr factor=0.1"))
    assert isinstance(made, Edited)
    assert made.sources == {str(tmp_path / "settings.py"): "LR = 0.01\n"}


MANY = """\
optimizer = torch.optim.SGD(
    model.parameters(),  # all of them
    lr=0.1,  # found by hand
)
"""


def test_call_over_several_lines_keeps_its_comments() -> None:
    made = edit(with_(optimizer=MANY), "set_momentum value=0.9")
    assert isinstance(made, Edited)
    assert MANY.replace("hand\n", "hand\n    momentum=0.9,\n") in made.sources["train.py"]


spaces = st.sampled_from(["", " ", "\n    ", "  # why\n    "])
names = st.sampled_from(["a", "b=1", "f(x, y)", "*rest", "c={'k': [1, 2]}", "**more", "'x,y'"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(names, spaces, spaces), min_size=1, max_size=5), st.booleans(), spaces)
def test_call_keeps_everything_else(parts: list[tuple[str, str, str]], comma: bool, end: str) -> None:
    """Whatever the layout, taking the new argument out again leaves the text that was there."""
    import ast

    inner = ",".join(f"{before}{name}{after}" for name, before, after in parts)
    text = f"call({inner}{',' if comma else ''}{end})"
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return
    made = with_keyword(text, "new", "7")
    assert made is not None
    after = ast.parse(made, mode="eval").body
    assert isinstance(after, ast.Call)
    assert isinstance(tree.body, ast.Call)
    assert ast.dump(after.keywords[-1].value) == ast.dump(ast.Constant(7))
    after.keywords.pop()
    assert ast.dump(after) == ast.dump(tree.body)
    assert made.count("# why") == text.count("# why")
    fewer = without(made, [len(after.args) + len(after.keywords)])
    assert fewer is not None
    assert ast.dump(ast.parse(fewer, mode="eval")) == ast.dump(tree)
    assert fewer.count("# why") == text.count("# why")


@given(st.floats(1e-9, 1e6))
def test_numbers_are_written_as_they_are(value: float) -> None:
    import ast

    for like in ("0.1", "1e-3"):
        text = plain(float(f"{value:.6g}"), like)
        assert ast.literal_eval(text) == pytest.approx(value, rel=1e-5)
        assert isinstance(ast.literal_eval(text), float)
    assert float(NewNumber(factor=0.1).literal(value)) == pytest.approx(value * 0.1, rel=1e-6)


def test_loop_with_a_comment_behind_the_step() -> None:
    loop = LOOP.replace("optimizer.step()", "optimizer.step()  # one")
    made = edit(with_(loop=loop), "warm_up steps=10")
    assert isinstance(made, Edited)
    assert "        optimizer.step()  # one\n        warmup.step()\n" in made.sources["train.py"]


def test_unreadable_syntax_is_an_instruction() -> None:
    closure = LOOP.replace("optimizer.step()", "optimizer.step(lambda: loss)")
    assert isinstance(edit(with_(loop=closure), "clip_norm limit=1.0"), Instruction)
