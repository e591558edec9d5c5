from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.logs import yamls

EXAMPLE = b"""\
lr: 1e-3
betas: !!python/tuple [0.9, 0.999]
args: !!python/object:argparse.Namespace {x: 1, y: null}
optimizer: !!python/name:torch.optim.Adam ''
device: !!python/object/apply:torch.device
- cpu
version: '3'
base: &base {p: 1, q: [2.5, .inf]}
again: *base
more: {<<: *base, p: 2}
flag: yes
time: 1:30
"""


def test_plain_data() -> None:
    assert yamls.load(EXAMPLE) == {
        "lr": 0.001,
        "betas": [0.9, 0.999],
        "args": {"x": 1, "y": None},
        "optimizer": "torch.optim.Adam",
        "device": ["cpu"],
        "version": "3",
        "base": {"p": 1, "q": [2.5, float("inf")]},
        "again": {"p": 1, "q": [2.5, float("inf")]},
        "more": {"p": 2, "q": [2.5, float("inf")]},
        "flag": True,
        "time": "1:30",
    }


def test_cut_off_keeps_what_comes_before() -> None:
    assert yamls.load(b"a: 1\nb: {x: 1, y: 2") == {"a": 1, "b": {"x": 1, "y": 2}}


def test_invalid_line_costs_itself_only() -> None:
    text = b"a: 1\nb: @odd\nc: 3 # three\nd: 'x'\n\t]broken\ne: 0.5\n"
    assert yamls.load(text) == {"a": 1, "b": "@odd", "c": 3, "d": "x", "e": 0.5}


@pytest.mark.parametrize("data", [b"", b"[1, 2]", b"text", b"\x00\x01", b"---\n"])
def test_no_mapping_is_no_settings(data: bytes) -> None:
    assert yamls.load(data) == {}


def test_alias_bomb_is_harmless() -> None:
    bomb = b"a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, after in zip(b"abcdefghi", b"bcdefghij", strict=True):
        bomb += b"%c: &%c [%s]\n" % (after, after, b", ".join([b"*%c" % before] * 10))
    assert len(str(yamls.load(bomb))) < 2_000_000


def test_an_alias_of_itself_ends() -> None:
    assert yamls.load(b"a: &x [1, *x]") == {"a": [1, "*x"]}


@pytest.mark.parametrize("opening", [b"[", b"- ", b"{a: ", b"? "])
def test_deep_nesting_is_quick(opening: bytes) -> None:
    begin = time.process_time()
    yamls.load(opening * 200_000)
    assert time.process_time() - begin < 5


@given(st.integers(0, len(EXAMPLE)), st.binary(max_size=4), st.integers(0, len(EXAMPLE)))
def test_damage_never_raises(at: int, junk: bytes, end: int) -> None:
    yamls.load(EXAMPLE[:at] + junk + EXAMPLE[at + len(junk) : end])
