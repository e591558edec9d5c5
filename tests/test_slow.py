"""The list of slow tests names what is there."""

from __future__ import annotations

import re
from fnmatch import fnmatch

import pytest

from tests.slow import SLOW, TESTS, is_slow

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
