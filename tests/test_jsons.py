from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traindx.core.nouns import Unreadable
from traindx.logs import jsons
from traindx.logs.log_file import File
from traindx.logs.tables import Table


def read(folder: Path, content: str | bytes) -> tuple[Table, list[str]]:
    path = folder / "rows"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    file = File(path)
    table = jsons.read_table(file)
    return table, [note.text for note in file.notes]


def shown(table: Table) -> dict[str, list[float | None]]:
    """Cells by column, a gap as None."""
    found = {}
    for name, values in table.values.items():
        cells = zip(values.tolist(), table.has(name).tolist(), strict=True)
        found[name] = [value if there else None for value, there in cells]
    return found


def test_bare_tokens_and_torn_tail(tmp_path: Path) -> None:
    table, notes = read(tmp_path, '{"s": 0, "x": NaN}\n{"s": 1, "x": -Infinity}\n{"s": 2, "x"')
    assert repr(shown(table)) == "{'s': [0.0, 1.0], 'x': [nan, -inf]}"
    assert notes == ["1 line(s) are not JSON objects (torn or garbage); skipped"]


def test_null_is_a_gap(tmp_path: Path) -> None:
    assert shown(read(tmp_path, '{"s":0,"x":1}\n{"s":1,"x":null}\n')[0]) == {"s": [0, 1], "x": [1, None]}


def test_keys_in_another_order(tmp_path: Path) -> None:
    table, _ = read(tmp_path, '{"s":0,"x":1,"y":2}\n{"s":1,"y":3,"x":4}\n')
    assert shown(table) == {"s": [0, 1], "x": [1, 4], "y": [2, 3]}


def test_nested_words_and_garbage(tmp_path: Path) -> None:
    first, last = '{"s":0,"a":{"b":{"c":1}},"mode":"train","n":"1.5"}', '{"s":1,"mode":"val"}'
    table, notes = read(tmp_path, f"{first}\nINFO hello\n[1]\n\n{last}\n")
    assert shown(table) == {"s": [0, 1], "a/b/c": [1, None], "n": [1.5, None]}
    assert table.labels == {"mode": ["train", "val"]}
    assert notes[0].startswith("2 line(s)")


def test_bombs(tmp_path: Path) -> None:
    deep = ["[" * 100_000, '{"a":' * 100_000]
    lines = [*deep, '{"a":1e999}', '{"a":' + "9" * 400 + "}", '{"a":' + "9" * 5000 + "}"]
    table, _ = read(tmp_path, "\n".join(lines))
    assert set(shown(table)["a"]) <= {math.inf}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"a": [1, 2, 3', {"a": [1, 2]}),
        ('{"a": [{"b": 1, "c": "x', {"a": [{"b": 1}]}),
        ('{"a": 1} garbage', {"a": 1}),
        ('{"a": "}]", "b": [1, 2], "c":', {"a": "}]", "b": [1, 2]}),
    ],
)
def test_torn_documents(data: str, expected: object) -> None:
    assert jsons.load_torn(data.encode()) == expected


@pytest.mark.parametrize("data", [b"", b"{", b"[[[[", b"[" * 100_000, b"\xff\xfe", b"hello"])
def test_hopeless_documents(data: bytes) -> None:
    with pytest.raises(Unreadable):
        jsons.load(data)
    with pytest.raises(Unreadable):
        jsons.load_torn(data)


def test_documents_with_bare_tokens_and_marks() -> None:
    assert jsons.load(b"\xef\xbb\xbf[1]") == [1]
    assert repr(jsons.load(b'{"a": NaN}')) == "{'a': nan}"
    assert jsons.load('{"a": 1}'.encode("utf-16")) == {"a": 1}


cells = st.one_of(st.none(), st.floats(), st.integers(-(10**15), 10**15))
rows = st.lists(st.dictionaries(st.sampled_from(["step", "loss", "a b", "x/y", "é"]), cells), max_size=20)
even = st.lists(st.tuples(cells, cells, cells), max_size=20).map(
    lambda found: [dict(zip(("step", "loss", "lr"), row, strict=True)) for row in found]
)


@settings(max_examples=80, deadline=None)
@given(st.one_of(rows, even), st.booleans())
def test_every_row_comes_back(found: list[dict[str, float | None]], compact: bool) -> None:
    separators = (",", ":") if compact else None
    text = "".join(json.dumps(row, separators=separators) + "\n" for row in found)
    with tempfile.TemporaryDirectory() as folder:
        table, notes = read(Path(folder), text)
    assert not notes
    for name in {key for row in found for key in row}:
        logged = [None if (v := row.get(name)) is None else float(v) for row in found]
        if any(v is not None for v in logged):
            assert repr(shown(table)[name]) == repr(logged)
