"""`traindx check DATA`: each planted fault is found in the file, and what only looks like one is not."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import traindx
from traindx.checkup.data.columns import unit_changes
from traindx.checkup.data.files import read_file
from traindx.checkup.data.part import column_of_classes
from traindx.checkup.data.small_model import _PENALTIES, _left_out
from traindx.cli import cli

Random = np.random.Generator
NAMES = ["a", "b", "c", "d", "e"]


def classes(random: Random, rows: int = 900, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    inputs = random.normal(size=(rows, 5))
    scores = np.tanh(inputs @ random.normal(size=(5, 8))) @ random.normal(size=(8, 3))
    return inputs, (4 * scores + noise * random.gumbel(size=scores.shape)).argmax(1)


def table(path: Path, header: list[str], *columns: object) -> str:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in zip(*columns, strict=True):
            cells = [np.atleast_1d(np.asarray(one, dtype=object)) for one in row]
            writer.writerow([cell for one in cells for cell in one])
    return str(path)


def sentinel(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random)
    inputs[random.random(900) < 0.05, 2] = -999
    return [table(folder / "t.csv", [*NAMES, "label"], inputs.round(3), labels)]


def minus_one(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, noise=0.3)
    visits = np.where(random.random(900) < 0.2, -1, random.integers(0, 60, 900))
    codes = np.where(random.random(900) < 0.03, 9999, random.integers(1000, 10_000, 900))
    names = ["id", *NAMES, "visits", "code", "label"]
    return [table(folder / "t.csv", names, range(900), inputs.round(3), visits, codes, labels)]


def unit_change(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random)
    inputs = inputs * 8 + 15
    inputs[600:, 1] = inputs[600:, 1] * 1.8 + 32
    return [table(folder / "t.csv", [*NAMES, "label"], inputs.round(3), labels)]


def stretch(folder: Path, random: Random) -> list[str]:
    """Some rows in the middle are in another unit."""
    inputs, labels = classes(random)
    inputs = np.abs(inputs) * 3 + 2
    inputs[400:600, 1] *= 3.6
    return [table(folder / "t.csv", [*NAMES, "label"], inputs.round(3), labels)]


def stuck(folder: Path, random: Random) -> list[str]:
    """A sensor hangs for a while."""
    inputs, labels = classes(random)
    inputs[500:620, 3] = 0.25
    return [table(folder / "t.csv", [*NAMES, "label"], inputs.round(3), labels)]


def out_of_time(folder: Path, random: Random) -> list[str]:
    """The rows of some days are shuffled."""
    inputs, labels = classes(random)
    hours = np.arange(900) * 3600 + 1_700_000_000
    hours[300:420] = random.permutation(hours[300:420])
    return [table(folder / "t.csv", ["timestamp", *NAMES, "label"], hours, inputs.round(3), labels)]


def any_order(folder: Path, random: Random) -> list[str]:
    """Rows in no order of time, and columns whose values repeat."""
    inputs, labels = classes(random, noise=0.3)
    hours = random.permutation(np.arange(900) * 3600 + 1_700_000_000)
    flag = np.where(np.arange(900) < 200, 0, random.integers(0, 2, 900))
    names = ["timestamp", *NAMES, "flag", "label"]
    return [table(folder / "t.csv", names, hours, inputs.round(3), flag, labels)]


def slipped(folder: Path, random: Random, *, at: int | None) -> list[str]:
    paths = words(folder, random, 0.97)
    vocabulary = next(path for path in paths if path.endswith(".json"))
    named = json.loads(Path(vocabulary).read_text())
    listed = list(named) if isinstance(named, dict) else named
    numbers = {word: number + (at is not None and number >= at) for number, word in enumerate(listed)}
    if at is not None:
        numbers[listed[-1]] = 1
    Path(vocabulary).write_text(json.dumps(numbers))
    return paths


def drift(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, noise=0.3)
    inputs[:, 0] += 3 * np.sin(np.arange(900) / 140)
    inputs[:, 1] += np.cumsum(random.normal(size=900)) / 6
    inputs[:, 2] += np.linspace(0, 4, 900)
    return [table(folder / "t.csv", ["date", *NAMES, "label"], range(900), inputs.round(3), labels)]


def stations(
    folder: Path,
    random: Random,
    change: Callable[[np.ndarray], np.ndarray],
    *,
    groups: int = 12,
    order: str = "day",
    levels: float = 5.0,
    column: str = "temp",
) -> list[str]:
    """A season in all stations; one column changes in two of them from day 201 on."""
    rows = 4000
    day, station = np.sort(random.integers(0, 365, rows)), random.integers(0, groups, rows)
    temperature = 12 - 8 * np.cos(day / 58) + random.normal(0, levels, groups)[station]
    temperature += random.normal(0, 3, rows)
    changed = (station < 2) & (day >= 201)
    names = np.array([f"N{one}" for one in range(groups)])[station]
    measured = {"temp": temperature, "wind": random.gamma(4, 2, rows), "humidity": random.normal(60, 9, rows)}
    measured[column][changed] = change(measured[column][changed])
    columns = [day, names, *(one.round(2) for one in measured.values()), random.normal(size=rows).round(3)]
    kept = np.lexsort((day, station)) if order == "station" else np.arange(rows)
    header = ["day", "station", "temp", "wind", "humidity", "load"]
    return [table(folder / "t.csv", header, *(one[kept] for one in columns))]


def fahrenheit(celsius: np.ndarray) -> np.ndarray:
    return 1.8 * celsius + 32


def noise_in_site(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1500)
    sites = random.choice(["n", "s", "w"], 1500, p=[0.4, 0.4, 0.2])
    wrong = (sites == "w") & (random.random(1500) < 0.5)
    labels[wrong] = (labels[wrong] + 1) % 3
    return [table(folder / "t.csv", ["site", *NAMES, "label"], sites, inputs.round(3), labels)]


def site_of_classes(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1500, noise=0.4)
    sites = np.where(random.random(1500) < 0.25 + 0.25 * labels, "n", "s")
    return [table(folder / "t.csv", ["site", *NAMES, "label"], sites, inputs.round(3), labels)]


def noise(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1500)
    wrong = random.random(1500) < 0.15
    labels[wrong] = (labels[wrong] + random.integers(1, 3, int(wrong.sum()))) % 3
    return [table(folder / "t.csv", [*NAMES, "label"], inputs.round(3), labels)]


def overlap(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1500, noise=1.2)
    return [table(folder / "t.csv", [*NAMES, "label"], inputs.round(3), labels)]


def block_shifted(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1500)
    labels[500:900] = labels[499:899].copy()
    np.savez(folder / "t.npz", X=inputs, y=labels)
    return [str(folder / "t.npz")]


def all_shifted(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random)
    np.save(folder / "features.npy", inputs)
    np.save(folder / "labels.npy", np.roll(labels, 1))
    return [str(folder / "features.npy"), str(folder / "labels.npy")]


def sorted_by_class(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, noise=0.3)
    order = np.argsort(labels, kind="stable")
    np.savez(folder / "t.npz", X=inputs[order], y=labels[order])
    return [str(folder / "t.npz")]


def answer_column(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, noise=1.0)
    labels = (labels > 0).astype(int)
    closed = np.where(labels == 1, random.integers(1, 90, 900).astype(str), "")
    return [table(folder / "t.csv", [*NAMES, "closed", "label"], inputs.round(3), closed, labels)]


def strong_column(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, noise=0.8)
    labels = (labels > 0).astype(int)
    marker = labels + random.normal(size=900) * 0.35
    names = ["patient", *NAMES, "marker", "class_name", "label"]
    named = np.where(labels == 1, "ill", "well")
    return [table(folder / "t.csv", names, range(900), inputs.round(3), marker.round(3), named, labels)]


def shared_rows(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1200)
    inputs[1000:1080], labels[1000:1080] = inputs[:80], labels[:80]
    parts = {"train": slice(0, 900), "valid": slice(900, 1200)}
    return [
        table(folder / f"{name}.csv", [*NAMES, "label"], inputs[rows].round(4), labels[rows])
        for name, rows in parts.items()
    ]


def splits_alike(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1200, noise=0.3)
    inputs[:, 3] += np.linspace(0, 0.7, 1200)
    flags = random.integers(0, 2, 1200)
    parts = {"train": slice(0, 900), "valid": slice(900, 1200)}
    return [
        table(folder / f"{n}.csv", ["id", *NAMES, "flag", "label"], range(s.stop - s.start),
              inputs[s].round(4), flags[s], labels[s])
        for n, s in parts.items()
    ]  # fmt: skip


def other_units(folder: Path, random: Random) -> list[str]:
    inputs, labels = classes(random, 1200)
    inputs[:, 1] = inputs[:, 1] * 20 + 70
    inputs[900:, 1] /= 2.54
    parts = {"train": slice(0, 900), "valid": slice(900, 1200)}
    return [
        table(folder / f"{name}.csv", [*NAMES, "label"], inputs[rows].round(4), labels[rows])
        for name, rows in parts.items()
    ]


def statistics(folder: Path, random: Random, *, shuffled: bool) -> list[str]:
    inputs, labels = classes(random, noise=0.3)
    inputs = inputs * random.uniform(2, 60, 5) + random.uniform(-100, 100, 5)
    mean, std = inputs.mean(0), inputs.std(0)
    if shuffled:
        mean, std = mean[::-1], std[::-1]
    np.savez(folder / "train.npz", X=inputs, y=labels)
    stats = {"mean": mean.round(3).tolist(), "std": std.round(3).tolist()}
    (folder / "stats.json").write_text(json.dumps(stats))
    return [str(folder / "train.npz"), str(folder / "stats.json")]


def words(folder: Path, random: Random, share: float) -> list[str]:
    vocabulary = ["".join(random.choice(list("abcdefghij"), 6)) for _ in range(300)]
    texts = [" ".join(random.choice(vocabulary, 12)) for _ in range(300)]
    rows = [{"text": text, "label": int(random.integers(2))} for text in texts]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    known = ["<pad>", "<unk>", *vocabulary[: int(share * 300)]]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(known)}))
    return [str(folder / "train.jsonl"), str(folder / "vocab.json")]


def images(folder: Path, random: Random, *, twice: bool) -> list[str]:
    from PIL import Image

    for name in ("ring", "square"):
        (folder / "images" / name).mkdir(parents=True, exist_ok=True)
        for i in range(30):
            pixels = random.integers(0, 255, (16, 16)).astype("uint8")
            Image.fromarray(pixels).save(folder / "images" / name / f"{i}.png")
            if twice and name == "ring" and i < 6:
                (folder / "images" / "square").mkdir(exist_ok=True)
                Image.fromarray(pixels).save(folder / "images" / "square" / f"copy{i}.png")
            if not twice and i < 6:
                Image.fromarray(pixels[:, ::-1].copy()).save(folder / "images" / name / f"{i}_flip.png")
    return [str(folder / "images")]


Maker = Callable[[Path, Random], list[str]]
FAULTS: dict[str, tuple[Maker, str]] = {
    "sentinel": (sentinel, "corrupt_batch"),
    "unit change": (unit_change, "corrupt_batch"),
    "a stretch in another unit": (stretch, "corrupt_batch"),
    "stuck": (stuck, "corrupt_batch"),
    "out of time": (out_of_time, "misaligned_labels"),
    "slipped vocabulary": (lambda f, r: slipped(f, r, at=12), "corrupt_batch"),
    "unit change in stations": (lambda f, r: stations(f, r, fahrenheit), "corrupt_batch"),
    "noise in a site": (noise_in_site, "label_noise"),
    "noise": (noise, "label_noise"),
    "block shifted": (block_shifted, "misaligned_labels"),
    "all shifted": (all_shifted, "misaligned_labels"),
    "answer column": (answer_column, "data_leakage"),
    "shared rows": (shared_rows, "data_leakage"),
    "other units": (other_units, "train_val_mismatch"),
    "statistics": (lambda f, r: statistics(f, r, shuffled=True), "unnormalised_inputs"),
    "vocabulary": (lambda f, r: words(f, r, 0.3), "constant_inputs"),
    "images twice": (lambda f, r: images(f, r, twice=True), "label_noise"),
}
HEALTHY: dict[str, Maker] = {
    "minus one": minus_one,
    "drift": drift,
    "any order": any_order,
    "whole vocabulary": lambda f, r: slipped(f, r, at=None),
    "stations of other levels": lambda f, r: stations(f, r, lambda one: one, levels=60.0),
    "a mild change in stations": lambda f, r: stations(f, r, lambda one: one + 5),
    "small stations": lambda f, r: stations(f, r, fahrenheit, groups=400),
    "site of classes": site_of_classes,
    "overlap": overlap,
    "sorted": sorted_by_class,
    "strong column": strong_column,
    "splits alike": splits_alike,
    "right statistics": lambda f, r: statistics(f, r, shuffled=False),
    "known words": lambda f, r: words(f, r, 0.97),
    "flipped images": lambda f, r: images(f, r, twice=False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    make, cause = FAULTS[fault]
    diagnosis = traindx.check(make(tmp_path, np.random.default_rng(5)))
    assert diagnosis.verdict == "problem"
    assert diagnosis.problems[0].hypotheses[0].cause == cause


@pytest.mark.parametrize("name", HEALTHY)
def test_a_look_alike_is_not(name: str, tmp_path: Path) -> None:
    diagnosis = traindx.check(HEALTHY[name](tmp_path, np.random.default_rng(6)))
    assert [problem.summary for problem in diagnosis.problems if problem.severity != "low"] == []


def test_a_stretch_in_another_unit_is_located(tmp_path: Path) -> None:
    change = unit_changes(read_file(stretch(tmp_path, np.random.default_rng(3))[0])[0])
    assert [one["column"] for one in change] == [NAMES[1]]
    assert abs(change[0]["row"] - 400) <= 10
    assert abs(change[0]["last_row"] - 599) <= 10


@pytest.mark.parametrize(("counts", "column"), [((500, 300, 100), "kind"), ((300, 300, 300), "")])
def test_the_target_is_the_column_with_the_classes_of_the_training(
    tmp_path: Path, counts: tuple[int, ...], column: str
) -> None:
    random = np.random.default_rng(1)
    inputs, _ = classes(random)
    kinds, other = random.choice(3, 900, p=[0.55, 0.34, 0.11]), random.choice(2, 900)
    path = table(tmp_path / "t.csv", [*NAMES, "kind", "flag"], inputs.round(3), kinds, other)
    assert column_of_classes(read_file(path)[0], counts) == column


@pytest.mark.parametrize("order", ["day", "station"])
@pytest.mark.parametrize(
    ("column", "change", "conversion"),
    [
        ("temp", fahrenheit, "degrees Celsius to Fahrenheit"),
        ("temp", lambda one: one + 273.15, "degrees Celsius to kelvin"),
        ("humidity", lambda one: one / 100, "divided by 100"),
    ],
)
def test_a_change_of_unit_within_groups_says_where_and_which(
    tmp_path: Path, order: str, column: str, change: Callable[[np.ndarray], np.ndarray], conversion: str
) -> None:
    paths = stations(tmp_path, np.random.default_rng(2), change, order=order, column=column)
    diagnosis = traindx.check(paths)
    summary = diagnosis.problems[0].summary
    for part in ("t.csv", "2 of 12 groups of station (N0, N1)", f"column {column}", "day 201", conversion):
        assert part in summary


def test_left_out_answers_are_those_of_models_fitted_without_the_row() -> None:
    random = np.random.default_rng(0)
    inputs, truth = random.normal(size=(60, 4)), random.normal(size=(60, 1))
    truth += inputs[:, :1]
    found, error = _left_out(inputs, truth)
    centred = inputs - inputs.mean(0)
    slow = []
    for penalty in _PENALTIES:
        answers = np.empty_like(truth)
        for row in range(60):
            kept = np.arange(60) != row
            # The closed form keeps the mean of all rows; so does this one.
            gram = centred[kept].T @ centred[kept] + 60 * penalty * np.eye(4)
            weights = np.linalg.solve(gram, centred[kept].T @ (truth - truth.mean(0))[kept])
            answers[row] = truth.mean(0) + centred[row] @ weights
        slow.append((float(((truth - answers) ** 2).mean()), answers))
    best = min(slow, key=lambda one: one[0])
    np.testing.assert_allclose(found, best[1], atol=0.08)
    assert error == pytest.approx(best[0], rel=0.05)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("cut.npz", b"PK\x03\x04 cut off", "damaged or too large"),
        ("pickled.npy", b"", "cannot be read"),
        ("words.jsonl", b"[1]\nhello\n", "no line of it is a JSON object"),
        ("cut.parquet", b"PAR1 cut off", "cannot be read" if find_spec("pyarrow") else "need pyarrow"),
    ],
)
def test_bad_data_is_one_line(tmp_path: Path, name: str, content: bytes, line: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if name == "pickled.npy":
        np.save(path, np.array([{"code": 1}] * 9, dtype=object), allow_pickle=True)
    result = CliRunner().invoke(cli, ["check", str(path)])
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_broken_image_is_named(tmp_path: Path) -> None:
    paths = images(tmp_path, np.random.default_rng(0), twice=False)
    (tmp_path / "images" / "ring" / "3.png").write_bytes(b"\x89PNG cut off")
    diagnosis = traindx.check(paths)
    assert "3.png" in diagnosis.problems[0].summary


def test_the_target_can_be_named(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    inputs, labels = classes(random)
    path = table(tmp_path / "t.csv", [*NAMES, "quality"], inputs.round(3), np.roll(labels, 1))
    found = traindx.check(path, target="quality")
    assert found.problems[0].hypotheses[0].cause == "misaligned_labels"
    last = traindx.check(path)
    assert last.problems[0].hypotheses[0].cause == "misaligned_labels"
    assert last.run.facts["checked"]["chosen"] == "t.csv: target quality (--target names another)"
    assert traindx.check(path, target="a").verdict == "insufficient_evidence"


def test_large_files_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from traindx.checkup.data import files

    monkeypatch.setattr(files, "_BYTES_MOST", 40_000)
    random = np.random.default_rng(2)
    inputs, labels = classes(random, 6000, noise=0.3)
    path = table(tmp_path / "big.csv", [*NAMES, "label"], inputs.round(3), labels)
    (part,) = files.read_file(path)
    assert 500 < len(part) < 3000
    assert part.total == pytest.approx(6000, rel=0.05)
    assert part.names[0] == "a"
