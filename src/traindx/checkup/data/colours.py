"""Colours of images by class and split: whether red and blue are exchanged in one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from traindx.core.nouns import FloatArray

_IMAGES_LEAST = 8


def exchanged_colours(colours: Mapping[tuple[str, str], Sequence[FloatArray]]) -> list[dict[str, Any]]:
    """One fact for each class whose images in two splits agree far better with red and blue exchanged.

    `colours` has the mean and the spread of red, green and blue of each image by split and class. Of the
    means red and blue against green count, so that brightness does not. `direct` and `exchanged` are
    distances between the splits in spreads of the images.
    """
    facts = []
    splits = sorted({split for split, _ in colours})
    for first, second in combinations(splits, 2):
        kinds = sorted({kind for split, kind in colours if split == first and (second, kind) in colours})
        for kind in kinds:
            sides = [_balance(np.array(colours[split, kind])) for split in (first, second)]
            if min(map(len, sides)) >= _IMAGES_LEAST:
                facts.append({"class": kind, "splits": [first, second], **_distances(sides)})
    return facts


def _balance(colours: FloatArray) -> FloatArray:
    """Red against green, blue against green, and the spreads of red and blue."""
    red, green, blue, red_spread, _, blue_spread = colours.T
    return np.column_stack([red - green, blue - green, red_spread, blue_spread])


def _distances(sides: Sequence[FloatArray]) -> dict[str, float]:
    spread = np.sqrt(np.mean([side.var(0) for side in sides], axis=0)) + 1.0
    error = spread * np.sqrt(sum(1 / len(side) for side in sides))
    first, second = (side.mean(0) for side in sides)
    exchanged = first[[1, 0, 3, 2]]
    balance = [float(side[0] - side[1]) for side in (first, second)]
    return {
        "direct": float(np.sqrt((((first - second) / spread) ** 2).mean())),
        "exchanged": float(np.sqrt((((exchanged - second) / spread) ** 2).mean())),
        "direct_z": float(np.abs((first - second) / error)[:2].max()),
        "images": float(min(map(len, sides))),
        "balance_first": balance[0],
        "balance_second": balance[1],
    }
