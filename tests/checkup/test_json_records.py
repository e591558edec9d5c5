"""Records in JSON documents are tables; labels exchanged in one group of them are found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from traindx.checkup.data.files import read_file
from traindx.checkup.data.measuring import profile
from traindx.core.nouns import Unreadable


def _records(count: int = 1200, *, swapped: str = "") -> list[dict[str, object]]:
    draw = np.random.default_rng(0)
    centres = draw.normal(0, 3, (4, 5))
    records: list[dict[str, object]] = []
    for at in range(count):
        kind = int(draw.integers(4))
        site = "ABCD"[at % 4]
        traits = [round(float(value), 3) for value in centres[kind] + draw.normal(0, 1, 5)]
        named = (1, 2, 0, 3)[kind] if site == swapped else kind
        records.append({"site": site, "traits": traits, "label": named})
    return records


def test_lists_of_numbers_become_columns(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps(_records(40)))
    (part,) = read_file(str(path))
    assert part.names == (*(f"traits[{at}]" for at in range(5)), "label")
    assert len(part) == 40
    assert list(part.words) == ["site"]
    np.testing.assert_allclose(part.numbers[3, :5], _records(40)[3]["traits"])  # type: ignore[arg-type]


def test_each_list_of_a_document_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(
        json.dumps({"train": _records(30), "val": _records(10), "version": 2, "names": ["a"] * 9})
    )
    assert [part.name for part in read_file(str(path))] == ["data.json:train", "data.json:val"]


def test_settings_hold_no_records_and_damage_is_named(tmp_path: Path) -> None:
    settings, damaged = tmp_path / "config.json", tmp_path / "cut.json"
    settings.write_text('{"lr": 0.1, "layers": [3, 4]}')
    damaged.write_text('[{"a": 1}, {"a"')
    assert read_file(str(settings)) == []
    with pytest.raises(Unreadable, match=r"cut\.json"):
        read_file(str(damaged))


@pytest.mark.parametrize("swapped", ["", "C"])
def test_labels_exchanged_in_one_group(tmp_path: Path, swapped: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps(_records(swapped=swapped)))
    (target,) = profile([str(path)], seconds=60)["data_targets"]
    if not swapped:
        assert "group_swapped" not in target or not target["group_swapped"]
        return
    assert (target["group_column"], target["group"]) == ("site", "C")
    assert target["group_swapped"] == "0 as 1, 1 as 2, 2 as 0"
    assert target["group_wrong"] > 0.3 > 0.05 > target["others_wrong"]
