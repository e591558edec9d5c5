"""The list of slow tests names what is there."""

from __future__ import annotations

import itertools
import re
from fnmatch import fnmatch

import pytest

from tests.slow import SECONDS, SLOW, TESTS, dealt, is_slow

FILES = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("test_*.py")}


@pytest.mark.parametrize("pattern", SLOW)
def test_every_pattern_is_about_a_test(pattern: str) -> None:
    file, _, test = pattern.partition("::")
    found = [path for name, path in FILES.items() if fnmatch(name, file)]
    names = [
        name for path in found for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
    ]
    assert any(fnmatch(name, test or "*") for name in names), f"{pattern} in tests/slow.py matches no test"


def test_a_file_and_a_test_in_it() -> None:
    assert is_slow(TESTS / "test_demo.py")
    assert is_slow(TESTS / "test_html.py", "test_size")
    assert not is_slow(TESTS / "test_html.py")
    assert not is_slow(TESTS / "test_html.py", "test_other")


def test_files_that_take_long_are_there() -> None:
    assert FILES.keys() >= SECONDS.keys()


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_share_begins_with_what_takes_long(workers: int) -> None:
    files = [path for name, path in FILES.items() for _ in range(4 if name in SECONDS else 40)]
    order = dealt(files, workers)
    assert sorted(order) == list(range(len(files)))
    assert [files[at] for at in order].count(TESTS / "test_demo.py") == 4
    ends = [len(files) * number // workers for number in range(workers + 1)]
    loads = []
    for first, end in itertools.pairwise(ends):
        share = [files[at].relative_to(TESTS).as_posix() for at in order[first:end]]
        long = [name in SECONDS for name in share]
        assert long == sorted(long, reverse=True)
        names = share[: sum(long)]
        assert len(list(itertools.groupby(names))) == len(set(names)), "a file is in one piece"
        loads.append(sum(SECONDS[name] for name in set(names)))
    assert max(loads) - min(loads) <= max(SECONDS.values()) / 2


def test_few_tests_and_no_tests_are_dealt_too() -> None:
    demo, other = TESTS / "test_demo.py", TESTS / "test_words.py"
    assert dealt([], 2) == []
    assert dealt([other, demo], 2) == [1, 0]
    assert sorted(dealt([other] * 3 + [demo], 8)) == [0, 1, 2, 3]
