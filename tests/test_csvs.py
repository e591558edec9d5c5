from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traindx.core.nouns import Unreadable
from traindx.logs import csvs, lines
from traindx.logs.log_file import File
from traindx.logs.tables import Table

NAN, INF = float("nan"), float("inf")
Cells = dict[str, list[float | None]]


def read(folder: Path, content: str | bytes) -> tuple[Table, list[str]]:
    path = folder / "table"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    file = File(path)
    table = csvs.read_table(file)
    return table, [note.text for note in file.notes]


def shown(table: Table) -> Cells:
    """Cells by column, a gap as None."""
    found = {}
    for name, values in table.values.items():
        cells = zip(values.tolist(), table.has(name).tolist(), strict=True)
        found[name] = [value if there else None for value, there in cells]
    return found


CASES: dict[str, tuple[str | bytes, Cells]] = {
    "gaps": ("a,b\n1,2\n3,\n,5\n", {"a": [1, 3, None], "b": [2, None, 5]}),
    "literal nan": ("a,b\nnan,inf\n-inf,NaN\n,-nan\n", {"a": [NAN, -INF, None], "b": [INF, NAN, NAN]}),
    "padding": ("  epoch ,  loss \n 0, 1.5\n 1,   .5\n", {"epoch": [0, 1], "loss": [1.5, 0.5]}),
    "repeated and empty names": ("loss,loss,\n1,2,3\n", {"loss": [1], "loss#2": [2], "Unnamed: 2": [3]}),
    "python style numbers": ("a,b\n1.,+2\n007,.5\n", {"a": [1, 7], "b": [2, 0.5]}),
    "decimal comma": ("a;b\n0,5;1,25\n0,1;nan\n", {"a": [0.5, 0.1], "b": [1.25, NAN]}),
    "quotes and thousands": ('a,"b c"\n1,"1,234"\n2,"12,345.5"\n', {"a": [1, 2], "b c": [1234, 12345.5]}),
    "percent": ("a,b\n1,45%\n2,46.5 %\n", {"a": [1, 2], "b": [45, 46.5]}),
    "tensors": ("a,b\n1,tensor(0.5)\n2,\"tensor(0.25, device='cuda:0')\"\n", {"a": [1, 2], "b": [0.5, 0.25]}),
    "words are gaps": ("a,b\n1,x\n2,3\n", {"a": [1, 2], "b": [None, 3]}),
    "underscores are words": ("a,b\n1_0,2\n1,3\n", {"a": [None, 1], "b": [2, 3]}),
    "tabs, mark, odd line ends": ("\ufeffa\tb\r\r\n1\t2\r\r\n", {"a": [1], "b": [2]}),
    "old line ends": ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "blanks": ("a b  c\n1  2   3\n 4 5 6 \n", {"a": [1, 4], "b": [2, 5], "c": [3, 6]}),
    "last column empty": ("a\tb\n0\t\n1\t\n", {"a": [0, 1]}),
    "bars": ("a|b\n1|2\n", {"a": [1], "b": [2]}),
    "markdown": ("| a | b |\n|---|---|\n| 0 | 1.5 |\n", {"a": [0], "b": [1.5]}),
    "names in a comment": ("# a b\n1 2\n3 4\n", {"a": [1, 3], "b": [2, 4]}),
    "comments between": ("a,b\n1,2\n# resumed\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    "no header": ("1,2\n3,4\n", {"column 1": [1, 3], "column 2": [2, 4]}),
    "title above": ("My run\nsep=;\na;b\n0;1\n1;2\n", {"a": [0, 1], "b": [1, 2]}),
    "names of rows": ("a b\n1 0 5\n2 1 6\n", {"Unnamed: 0": [1, 2], "a": [0, 1], "b": [5, 6]}),
    "utf-16": ("a,b\n0,1\n".encode("utf-16"), {"a": [0], "b": [1]}),
    "utf-16 without mark": ("a,b\n0,1\n".encode("utf-16-le"), {"a": [0], "b": [1]}),
    "nul bytes": ("\0\0\0a,b\n0,1\n\0\0", {"a": [0], "b": [1]}),
    "cell over two lines": ('a,note,b\n0,"multi\nline",5\n1,ok,6\n', {"a": [0, 1], "b": [5, 6]}),
    "one column": ("loss\n1\n2\n", {"loss": [1, 2]}),
    "empty": ("", {}),
    "blank lines only": ("\n\n", {}),
    "blank lines between": ("a,b\n\n1,2\n\n\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}),
    "rows of nothing": ("a,b\n,\n1,2\n", {"a": [1], "b": [2]}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_quirks(tmp_path: Path, case: str) -> None:
    content, expected = CASES[case]
    found = shown(read(tmp_path, content)[0])
    assert list(found) == list(expected)
    for name in expected:
        assert repr(found[name]) == repr([None if v is None else float(v) for v in expected[name]])


def test_ragged_rows(tmp_path: Path) -> None:
    table, notes = read(tmp_path, "a,b\n0,1\n1,2,3\n2\n3,4\n")
    assert shown(table) == {"a": [0, 1, 2, 3], "b": [1, 2, None, 4]}
    assert "1 row(s) have more cells" in notes[0]


def test_torn_last_row_loses_its_last_cell(tmp_path: Path) -> None:
    assert shown(read(tmp_path, "a,b,c\n0,1,2\n1,0.00")[0]) == {"a": [0, 1], "b": [1, None], "c": [2, None]}


def test_header_again(tmp_path: Path) -> None:
    table, notes = read(tmp_path, "a,b\n0,1\na,b\n0,3\na,b,c\n1,4,5\n")
    assert shown(table) == {"a": [0, 0, 1], "b": [1, 3, 4], "c": [None, None, 5]}
    assert "header is repeated 2 time(s)" in notes[0]


def test_labels(tmp_path: Path) -> None:
    table, _ = read(tmp_path, "epoch,phase,loss\n0,train,1\n0,val,2\n")
    assert table.labels == {"phase": ["train", "val"]}


def test_many_columns(tmp_path: Path) -> None:
    names = ",".join(f"c{n}" for n in range(100_000))
    table, _ = read(tmp_path, names + "\n" + ",".join("1" for _ in range(100_000)) + "\n")
    assert len(table.values) == 100_000


def test_too_many_columns(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="columns"):
        read(tmp_path, b"1," * 250_000 + b"\n")


def test_monster_line_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 10_000)
    monkeypatch.setattr(File, "chunks", lambda self: File._pieces(self, 4096, self.notes))
    table, notes = read(tmp_path, b"a,b\n1,2\n" + b"x" * 50_000 + b"\n3,4\n")
    assert shown(table) == {"a": [1, 3], "b": [2, 4]}
    assert "1 line(s) longer" in notes[0]


numbers = st.one_of(
    st.floats(),
    st.integers(-(10**18), 10**18).map(float),
    st.sampled_from([0.0, -0.0, 1e308, 5e-324]),
)
pairs = st.tuples(numbers, st.one_of(st.none(), numbers))


@settings(max_examples=60, deadline=None)
@given(st.lists(pairs, min_size=1, max_size=30), st.sampled_from(",;\t|"))
def test_every_float_comes_back(rows: list[tuple[float, float | None]], delimiter: str) -> None:
    import tempfile

    text = f"a{delimiter}b\n" + "".join(f"{a!r}{delimiter}{'' if b is None else repr(b)}\n" for a, b in rows)
    with tempfile.TemporaryDirectory() as folder:
        table, _ = read(Path(folder), text)
    np.testing.assert_array_equal(table.values["a"], [a for a, _ in rows])
    there = [b is not None for _, b in rows]
    if any(there):
        np.testing.assert_array_equal(table.has("b"), there)
        logged = [b for _, b in rows if b is not None]
        np.testing.assert_array_equal(table.values["b"][table.has("b")], logged)
