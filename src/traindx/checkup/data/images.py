"""A folder of images as a part: one row for each, the class from its folder, a small copy as its numbers."""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from typing import Any

import numpy as np

from traindx.checkup.data.colours import exchanged_colours
from traindx.checkup.data.part import DataPart, evenly, split_of
from traindx.core import files
from traindx.core.nouns import Unreadable

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_MASKS = re.compile(r"(?:mask|label|annotation|segmentation|ground_?truth)s?[^/\\]*[/\\]", re.I)
_MOST, _BYTES_MOST, _SIDE = 3_000, 40 << 20, 12
_PIXELS_MOST = 60_000_000
_ARRAYS_MOST = 512


def image_parts(folder: str) -> tuple[list[DataPart], dict[str, Any]]:
    """A part for each split of a folder, and what was seen of its files."""
    every = sorted(_images(folder))
    # Masks are targets: of one colour where nothing is to be found, and with channels of their own.
    paths = [path for path in every if not _MASKS.search(os.path.relpath(path, folder))] or every
    if len(paths) > 50 * _MOST:
        paths = paths[: 50 * _MOST]
    sampled = [paths[i] for i in evenly(len(paths), _MOST)]
    facts: dict[str, Any] = {"folder": folder, "images": len(paths), "measured": len(sampled)}
    rows: dict[str, list[tuple[str, str, int, np.ndarray]]] = {}
    broken: list[tuple[str, str]] = []
    colours: dict[tuple[str, str], list[np.ndarray]] = {}
    sizes: Counter[str] = Counter()
    flat: list[str] = []
    folder_split = split_of(os.path.basename(os.path.normpath(folder)))
    for path in sampled:
        name = os.path.relpath(path, folder)
        try:
            key, small, size, colour = _image(path)
        except Exception as error:  # a decoder may raise anything for a damaged file
            broken.append((name, f"{type(error).__name__}: {str(error)[:100]}"))
            continue
        sizes[size] += 1
        if float(np.ptp(small)) == 0:
            flat.append(name)
        folders = os.path.dirname(name).split(os.sep)
        split = (
            next((named_split for directory in folders if (named_split := split_of(directory))), "")
            or folder_split
        )
        rows.setdefault(split, []).append((name, folders[-1] if folders[-1] else "", key, small))
        if colour is not None:
            colours.setdefault((split, folders[-1]), []).append(colour)
    facts |= {"broken": len(broken), "broken_files": [f"{p}: {reason}" for p, reason in broken[:5]]}
    facts |= {
        "flat": len(flat),
        "flat_files": flat[:5],
        "sizes": dict(sizes.most_common(6)),
        "kinds": len(sizes),
        "colours": exchanged_colours(colours),
    }
    parts = [_part(folder, split, split_rows) for split, split_rows in rows.items() if len(split_rows) >= 8]
    return parts, facts


def _part(folder: str, split: str, rows: list[tuple[str, str, int, np.ndarray]]) -> DataPart:
    classes = [row[1] for row in rows]
    target = "folder" if 2 <= len(set(classes)) <= 200 else ""
    words = {"file": [row[0] for row in rows], **({"folder": classes} if target else {})}
    base = os.path.basename(os.path.normpath(folder))
    name = base + (f" ({split})" if split and not split_of(base) else "")
    matrix = np.stack([row[3] for row in rows])
    return DataPart(
        name, folder, np.arange(len(rows)), len(rows), matrix,
        tuple(f"pixel {i}" for i in range(matrix.shape[1])), words, target, split, "pixel",
        tuple(row[2] for row in rows),
    )  # fmt: skip


def image_arrays(folder: str) -> tuple[np.ndarray, np.ndarray, list[str], str]:
    """Images of the most common size as numbers from 0 to 1, channels last; classes by folder; that size."""
    from PIL import Image

    paths = sorted(_images(folder))
    training = [path for path in paths if split_of(os.path.relpath(path, folder)) in ("", "train")] or paths
    sampled = [training[i] for i in evenly(len(training), _ARRAYS_MOST)]
    rows: list[tuple[str, np.ndarray]] = []
    for path in sampled:
        try:
            if os.path.getsize(path) <= _BYTES_MOST:
                with files.opened(path) as file, Image.open(file) as image:
                    if image.size[0] * image.size[1] <= _PIXELS_MOST:
                        converted = image if image.mode == "L" else image.convert("RGB")
                        rows.append(
                            (os.path.basename(os.path.dirname(path)), np.asarray(converted, np.float32) / 255)
                        )
        except Exception:  # a decoder may raise anything for a damaged file
            continue
    sizes = Counter(pixels.shape for _, pixels in rows)
    if not sizes:
        raise Unreadable(f"{folder}: no image of it can be read")
    size = sizes.most_common(1)[0][0]
    rows = [row for row in rows if row[1].shape == size]
    classes = sorted({name for name, _ in rows})
    labels = np.array([classes.index(name) for name, _ in rows], dtype=np.int64)
    pixels = np.stack([array if array.ndim == 3 else array[..., None] for _, array in rows])
    return pixels, labels, classes, "x".join(map(str, size[:2]))


def _images(folder: str) -> list[str]:
    return [
        os.path.join(place, name)
        for place, folders, names in os.walk(folder)
        for name in names
        if name.lower().endswith(IMAGES) and not name.startswith(".")
    ]


def has_images(folder: str) -> bool:
    """Whether there is an image in a folder or in one below it."""
    for count, (_, _, names) in enumerate(os.walk(folder)):
        if any(name.lower().endswith(IMAGES) for name in names):
            return True
        if count > 200:
            break
    return False


def _image(path: str) -> tuple[int, np.ndarray, str, np.ndarray | None]:
    """The hash of its pixels, a small grey copy, its size and mode, and mean and spread of its colours."""
    from PIL import Image

    with files.opened(path) as file:
        if os.fstat(file.fileno()).st_size > _BYTES_MOST:
            raise ValueError("larger than is read")
        with Image.open(file) as image:
            width, height = image.size
            if width * height > _PIXELS_MOST:
                raise ValueError("more pixels than are read")
            image.load()
            size = f"{width}x{height} {image.mode}"
            key = zlib.crc32(image.tobytes()) * 1_000_003 + width * height
            small = np.asarray(image.convert("L").resize((_SIDE, _SIDE)), dtype=np.float64)
            colour = None
            if image.mode in ("RGB", "RGBA", "P"):
                pixels = np.asarray(image.convert("RGB").resize((_SIDE, _SIDE)), dtype=np.float64).reshape(
                    -1, 3
                )
                colour = np.concatenate([pixels.mean(0), pixels.std(0)])
    return key, small.ravel(), size, colour
