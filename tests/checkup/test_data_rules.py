"""Faults of texts, codes, groups, single numbers and colours in data files, and what only looks like them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traindx

ROWS = 900
WORDS = (
    "network gradient training value model data batch epoch layer weight rate learning input output function "
    "class label sample error node graph point number method result report"
).split()
Random = np.random.Generator


@pytest.fixture
def random() -> Random:
    return np.random.default_rng(5)


def table(path: Path, header: str, *columns: Any) -> str:
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header.split())
        writer.writerows(zip(*columns, strict=True))
    return str(path)


def found(*paths: str, target: str = "") -> set[str]:
    problems = traindx.check(list(paths), target=target).problems
    return {finding.id for one in problems for finding in one.findings if one.severity != "low"}


@pytest.mark.parametrize("way", ["cut", "whole", "limit", "template"])
def test_texts_that_end_in_the_midst_of_a_word(tmp_path: Path, random: Random, way: str) -> None:
    texts = [" ".join(random.choice(WORDS, random.integers(9, 30))) for _ in range(ROWS)]
    if way == "cut":
        texts[200:450] = [text[:50] for text in texts[200:450]]
    if way == "limit":
        texts = [text[:120].rpartition(" ")[0] for text in texts]
    if way == "template":
        texts[::3] = [f"The order {code} of a customer left" for code in random.integers(10_000, 99_999, 300)]
    path = tmp_path / "texts.jsonl"
    kinds = random.choice(["a", "b"], ROWS)
    rows = [json.dumps({"text": text, "label": str(kind)}) for text, kind in zip(texts, kinds, strict=True)]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert ("file_texts_cut" in found(str(path))) is (way == "cut")


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_words_decoded_by_another_alphabet(tmp_path: Path, random: Random, share: float) -> None:
    cities = [
        str(city) for city in random.choice(["Zürich", "São Paulo", "Łódź", "Ângela", "°C", "東京"], ROWS)
    ]
    broken = random.random(ROWS) < share
    cities = [
        city.encode().decode("latin-1") if bad else city for city, bad in zip(cities, broken, strict=True)
    ]
    area = random.normal(size=ROWS).round(3)
    path = table(tmp_path / "t.csv", "city area rent", cities, area, (3 * area).round(2))
    assert ("file_text_undecoded" in found(path, target="rent")) is bool(share)


@pytest.mark.parametrize("way", ["exchanged", "same", "other shares", "other effects"])
def test_codes_that_stand_for_other_things(tmp_path: Path, random: Random, way: str) -> None:
    effect, shares = np.array([200, 170, 140, 110, 90, 60]), np.array([0.35, 0.24, 0.16, 0.11, 0.09, 0.05])
    paths = []
    for name, rows in (("train", 1500), ("valid", 500)):
        other = name == "valid"
        kind = random.choice(6, rows, p=shares[::-1] if other and way == "other shares" else shares)
        warm = random.normal(20, 5, rows).round(1)
        now = effect[::-1] if other and way == "other effects" else effect
        rides = (now[kind] + 2 * warm + random.normal(0, 20, rows)).round(1)
        codes = np.array([1, 2, 3, 4, 5, 0])[kind] if other and way == "exchanged" else kind
        paths.append(table(tmp_path / way / f"{name}.csv", "weather warm rides", codes, warm, rides))
    assert ("file_splits_differ" in found(*paths, target="rides")) is (way == "exchanged")


@pytest.mark.parametrize("way", ["tonnes", "larger", "other levels", "other rule"])
def test_one_group_in_another_unit(tmp_path: Path, random: Random, way: str) -> None:
    site, machines = random.integers(0, 4, ROWS), random.gamma(9, 1.2, ROWS).round(3)
    level = {"tonnes": [1, 1.05, 0.001, 1.1], "larger": [1, 1.05, 7, 1.1], "other levels": [1, 40, 900, 0.02]}
    output = (
        4 * machines * np.array(level.get(way, [1, 1, 1, 1]))[site] * np.exp(0.1 * random.normal(size=ROWS))
    )
    if way == "other rule":
        output[site == 2] = np.exp(random.normal(-4, 1, int((site == 2).sum())))
    shown = [f"{value:.6g}" for value in output]
    path = table(tmp_path / "t.csv", "site machines output", np.array(list("nesw"))[site], machines, shown)
    assert ("file_group_scaled" in found(path, target="output")) is (way == "tonnes")


@pytest.mark.parametrize("way", ["slipped", "true", "long tails", "rare events"])
def test_decimal_points_that_slipped(tmp_path: Path, random: Random, way: str) -> None:
    inputs = random.normal(size=(1500, 3)).round(3)
    values = np.exp(1 + 0.5 * inputs[:, 0] + 0.3 * inputs[:, 1] + 0.1 * random.normal(size=1500))
    rare = random.random(1500) < 0.01
    if way == "slipped":
        values[rare] *= 10
    if way == "long tails":
        values *= np.exp(0.3 * random.standard_t(2, 1500))
    if way == "rare events":
        values[rare] *= random.uniform(3, 30, int(rare.sum()))
    path = table(tmp_path / "t.csv", "a b c y", *inputs.T, values.round(4))
    assert ("file_numbers_slipped" in found(path, target="y")) is (way == "slipped")


@pytest.mark.parametrize("way", ["blank", "class of its own", "few"])
def test_rows_that_hold_nothing(tmp_path: Path, random: Random, way: str) -> None:
    labels = random.integers(0, 3, ROWS)
    images = random.normal(size=(ROWS, 8, 8)) + labels[:, None, None]
    rows = slice(300, 303) if way == "few" else slice(300, 380)
    images[rows] = 0
    if way == "class of its own":
        labels[rows] = 3
    np.savez(tmp_path / "x.npz", images=images, labels=labels)
    assert ("file_rows_blank" in found(str(tmp_path / "x.npz"))) is (way == "blank")


@pytest.mark.parametrize(("moved", "apart"), [(20, 3.0), (0, 3.0), (0, 1.8)])
def test_rows_of_one_class_under_another(tmp_path: Path, random: Random, moved: int, apart: float) -> None:
    labels = random.integers(0, 6, 1200)
    inputs = apart * np.eye(6, 8)[labels] * 1.6 + random.normal(size=(1200, 8))
    labels[random.choice(np.flatnonzero(labels == 2), moved, replace=False)] = 4
    np.savez(tmp_path / "x.npz", x=inputs, y=labels)
    assert ("file_labels_moved" in found(str(tmp_path / "x.npz"))) is bool(moved)


@pytest.mark.parametrize("apart", [0.8, 1.1, 1.4])
def test_classes_that_overlap_are_no_label_noise(tmp_path: Path, random: Random, apart: float) -> None:
    labels = random.integers(0, 3, 1500)
    inputs = apart * np.eye(3, 5)[labels] * 1.4 + random.normal(size=(1500, 5))
    np.savez(tmp_path / "x.npz", x=inputs, y=labels)
    assert "file_labels_noisy" not in found(str(tmp_path / "x.npz"))


@pytest.mark.parametrize("way", ["class", "split", "none", "light", "everywhere"])
def test_red_and_blue_exchanged(tmp_path: Path, random: Random, way: str) -> None:
    image = pytest.importorskip("PIL.Image")
    colours = {"lime": (90, 190, 60), "mango": (230, 150, 40), "berry": (60, 40, 190)}
    for split in ("train", "val"):
        for kind, colour in colours.items():
            folder = tmp_path / split / kind
            folder.mkdir(parents=True)
            for at in range(16):
                pixels = np.full((16, 16, 3), random.uniform(200, 240))
                pixels[4:12, 4:12] = np.array(colour) + random.normal(0, 12, 3)
                exchanged = split == "train" and (way == "split" or (way == "class" and kind == "mango"))
                if exchanged or way == "everywhere":
                    pixels = pixels[..., ::-1]
                if way == "light" and split == "val":
                    pixels = pixels * np.array([1.15, 1, 0.8])
                image.fromarray(np.clip(pixels, 0, 255).astype("uint8")).save(folder / f"{at}.png")
    assert ("file_colours_exchanged" in found(str(tmp_path))) is (way in ("class", "split"))
