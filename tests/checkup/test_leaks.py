"""What ties two files together besides equal rows: ids, moments, texts; copies and wrong numbers in one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import traindx


def written(path: Path, names: Sequence[str], *columns: Sequence[object]) -> str:
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([",".join(names), *rows]))
    return str(path)


def found(*paths: str) -> dict[str, str]:
    diagnosis = traindx.check(list(paths))
    return {one.id: problem.severity for problem in diagnosis.problems for one in problem.findings}


@pytest.mark.parametrize("apart", [False, True])
def test_patients_on_both_sides(tmp_path: Path, apart: bool) -> None:
    random = np.random.default_rng(0)
    patients = np.repeat(np.arange(150), 6)
    disease = random.integers(0, 2, 150)[patients]
    markers = random.normal(size=(900, 3)) + 0.4 * disease[:, None]
    validation = patients >= 110 if apart else random.random(900) < 0.3
    paths = [
        written(
            tmp_path / f"{name}.csv",
            ["patient_id", "a", "b", "c", "disease"],
            [f"P{one:03d}" for one in patients[rows]],
            *markers[rows].T.round(4),
            disease[rows],
        )
        for name, rows in (("train", ~validation), ("val", validation))
    ]
    assert ("file_identities_shared" in found(*paths)) is not apart


@pytest.mark.parametrize("apart", [False, True])
def test_hours_between_hours(tmp_path: Path, apart: bool) -> None:
    random = np.random.default_rng(1)
    times = np.datetime64("2024-01-01T00:00:00") + np.arange(1200) * np.timedelta64(3600, "s")
    load = np.cumsum(random.normal(size=1200)) + 50
    weather = random.normal(size=1200)
    validation = np.arange(1200) >= 900 if apart else random.random(1200) < 0.25
    paths = [
        written(
            tmp_path / f"{name}.csv",
            ["timestamp", "weather", "load"],
            [str(one).replace("T", " ") for one in times[rows]],
            weather[rows].round(4),
            load[rows].round(3),
        )
        for name, rows in (("train", ~validation), ("val", validation))
    ]
    assert ("file_times_mixed" in found(*paths)) is not apart


def test_copies_with_their_ids(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    rows = np.concatenate([np.arange(400), random.integers(0, 400, 60)])
    ages, calls, left = (random.integers(low, high, 400) for low, high in ((18, 80), (0, 9), (0, 2)))
    names = ["customer_id", "age", "calls", "left"]
    copies = written(tmp_path / "a.csv", names, rows + 5000, ages[rows], calls[rows], left[rows])
    single = written(tmp_path / "b.csv", names, np.arange(400), ages, calls, left)
    assert found(copies)["file_rows_repeated"] == "medium"
    assert "file_rows_repeated" not in found(single)


@pytest.mark.parametrize("wrong", [0, 60])
def test_numbers_that_all_other_rows_contradict(tmp_path: Path, wrong: int) -> None:
    random = np.random.default_rng(3)
    inputs = random.normal(size=(1200, 4))
    price = inputs @ [3.0, -2.0, 1.0, 0.5] + 0.2 * random.standard_normal(1200)
    price[random.choice(1200, wrong, replace=False)] += random.choice([-15.0, 15.0], wrong)
    path = written(tmp_path / "a.csv", ["a", "b", "c", "d", "price"], *inputs.T.round(4), price.round(4))
    assert ("file_numbers_wrong" in found(path)) is bool(wrong)


def test_texts_that_are_nearly_those_of_training(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    words = [f"word{at}" for at in range(400)]
    texts = [" ".join(random.choice(words, 20)) for _ in range(300)]
    changed = [text.rsplit(" ", 1)[0] + " indeed" for text in texts[:60]]
    fresh = [" ".join(random.choice(words, 20)) for _ in range(140)]
    labels = random.integers(0, 2, 500)
    train = written(tmp_path / "train.csv", ["text", "label"], texts, labels[:300])
    leaky = written(tmp_path / "val.csv", ["text", "label"], [*changed, *fresh], labels[300:])
    clean = written(tmp_path / "test.csv", ["text", "label"], fresh, labels[:140])
    assert "file_rows_shared" in found(train, leaky)
    assert "file_rows_shared" not in found(train, clean)


def test_a_block_of_missing_rows(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    income = [f"{one:.2f}" for one in random.normal(30, 5, 600)]
    scattered = ["" if random.random() < 0.1 else one for one in income]
    block = ["" if 200 <= at < 280 else one for at, one in enumerate(income)]
    ages, labels = random.integers(18, 80, 600), random.integers(0, 2, 600)
    severities = [
        found(written(tmp_path / f"{at}.csv", ["age", "income", "label"], ages, column, labels))
        for at, column in enumerate((scattered, block))
    ]
    assert "file_values_missing" not in severities[0]
    assert severities[1]["file_values_missing"] == "medium"
