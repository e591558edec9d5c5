"""One table of a data set: numbers, words and the target, row by row, of a file or of one array in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from traindx.core.nouns import FloatArray, IntArray

MOST_ROWS = 20_000
_WINDOWS = 16
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
_TARGETS = re.compile(
    r"^(?:the_)?(labels?|targets?|y|class(?:es|_id|_label)?|category|outcome|answer)$", re.I
)
_TARGET_ARRAY = re.compile(r"(?:^|_)(labels?|labs?|lbls?|targets?|y|classes)(?:$|_)", re.I)
_SPLIT = re.compile(
    r"(?:^|[^a-z])(train|training|trn|val|valid|validation|dev|eval|test|holdout)(?![a-z])", re.I
)
_IDS = re.compile(r"(?:^|_)(?:id|ids|uuid|guid|key|index|idx|row|filename|file|path)$|^(?:id|unnamed)", re.I)
_TIMES = re.compile(
    r"(?:^|_)(?:date|time|timestamp|datetime|day|month|year|hour|week|minute|t|ts)(?:$|_)", re.I
)
_DATE = re.compile(r"^\d{4}-\d\d?-\d\d?|^\d\d?/\d\d?/\d{2,4}")
_IDENTITIES = re.compile(
    r"(?:^|_)(?:id|ids|uuid|guid|key)$|^id_|patient|subject|person|user|customer|client|speaker|author|session|"
    r"household|participant|device|vehicle|account|document|case|group",
    re.I,
)
_CLASSES_MOST = 50
# So many targets show how frequent each class is.
_COUNTED = 200


@dataclass(frozen=True, eq=False)
class DataPart:
    """A sample of the rows of a table in the order of the file; `rows` are their numbers, from 0.

    `numbers` has a column for each of `names`, NaN where a value is missing; `words` are the columns of text.
    `elements` is set where the numbers are of one array: images, sequences, features without names.
    """

    name: str
    path: str
    rows: IntArray
    total: int
    numbers: FloatArray
    names: tuple[str, ...]
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    target: str = ""
    split: str = ""
    array: str = ""
    keys: tuple[int, ...] = ()
    odd_cells: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> FloatArray | None:
        return self.numbers[:, self.names.index(name)] if name in self.names else None

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Some of the columns of numbers, in this order."""
        return self.numbers[:, [self.names.index(name) for name in names]]

    def shown(self, name: str, at: int) -> str:
        """One value as text."""
        values = self.column(name)
        return self.words[name][at] if values is None else f"{values[at]:.10g}"

    @property
    def inputs(self) -> list[str]:
        """The columns that may reach a model: not the target, ids or times."""
        return [name for name in self.names if name != self.target and not self.is_key(name)]

    def is_key(self, name: str) -> bool:
        """Whether a column names the row or its moment: an id, a counter, a date."""
        values = self.column(name)
        if values is None:
            words = self.words.get(name, ())
            dated = bool(words) and sum(bool(_DATE.match(word)) for word in words[:50]) > 25
            is_unique = len(words) > 20 and len(set(words)) == len(words) and not _running(words)
            return dated or bool(_IDS.search(name)) or is_unique
        if self.array:
            return False
        if _IDS.search(name) or _TIMES.search(name):
            return True
        steps = np.diff(values)
        is_integer = bool(np.all(values == np.round(values)))
        return len(values) > 20 and is_integer and bool(np.all(steps > 0))

    @property
    def groups(self) -> dict[str, IntArray]:
        """Columns of a few values that each hold many rows: sites, annotators, kinds."""
        return self.groups_of(_CLASSES_MOST)

    def groups_of(self, most: int) -> dict[str, IntArray]:
        """Columns of at most so many values, two or more of which hold many rows."""
        groups: dict[str, IntArray] = {}
        for name, words in self.words.items():
            if name != self.target:
                groups |= _grouped(name, np.array(words, dtype=str), most)
        for name in () if self.array else self.names:
            values = self.numbers[:, self.names.index(name)]
            if name != self.target and np.isfinite(values).all() and (values == np.round(values)).all():
                groups |= _grouped(name, values, most)
        return groups

    @property
    def labels(self) -> IntArray | None:
        """The target as class numbers; None where it is a real number or unknown."""
        if self.target in self.words:
            return np.unique(np.array(self.words[self.target], dtype=str), return_inverse=True)[1]
        values = self.column(self.target)
        if values is None or not np.isfinite(values).all() or (values != np.round(values)).any():
            return None
        distinct, codes = np.unique(values, return_inverse=True)
        return codes if 2 <= len(distinct) <= min(_CLASSES_MOST, max(2, len(values) // 8)) else None

    @property
    def class_names(self) -> list[str]:
        if self.target in self.words:
            return [str(name) for name in np.unique(np.array(self.words[self.target], dtype=str))]
        values = self.column(self.target)
        return [] if values is None else [f"{value:g}" for value in np.unique(values[np.isfinite(values)])]

    @property
    def texts(self) -> list[str] | None:
        """The column of running text, joined where there are several; None without one."""
        long = [words for name, words in self.words.items() if name != self.target and _running(words)]
        return [" ".join(row) for row in zip(*long, strict=True)] if long else None

    def taken(self, at: IntArray) -> DataPart:
        """Some of its rows."""
        words = {name: [column[i] for i in at] for name, column in self.words.items()}
        keys = tuple(self.keys[i] for i in at) if self.keys else ()
        return replace(self, rows=self.rows[at], numbers=self.numbers[at], words=words, keys=keys)


def is_identity(name: str) -> bool:
    """Whether a column is called like something that rows belong to: a person, a session, an id."""
    return bool(_IDENTITIES.search(name))


def moments(part: DataPart, name: str) -> FloatArray | None:
    """A column of dates or times as numbers that grow with time; None where it is none."""
    if name in part.words:
        words = part.words[name]
        if not words or sum(bool(_DATE.match(word)) for word in words) < len(words):
            return None
        try:
            return np.array([word[:19].replace("/", "-") for word in words], "datetime64[s]").astype(
                np.float64
            )
        except ValueError:
            return None
    values = part.column(name)
    timed = not part.array and re.search(
        r"(?:^|_)(?:time|timestamp|datetime|ts|date|unix|epoch)(?:$|_)", name, re.I
    )
    return values if timed and values is not None and np.isfinite(values).all() else None


def _running(words: Sequence[str]) -> bool:
    """Whether a column holds running text."""
    return bool(words) and float(np.mean([len(word.split()) for word in words[:200]])) >= 3


def _grouped(name: str, values: np.ndarray, most: int) -> dict[str, IntArray]:
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    large = int((counts >= 30).sum())
    return {name: codes} if 2 <= len(distinct) <= most and large >= 2 else {}


def windows(total: int, most: int = MOST_ROWS) -> IntArray:
    """The rows to keep of so many: all, or blocks of neighbours spread evenly over the file."""
    if total <= most:
        return np.arange(total)
    size = most // _WINDOWS
    starts = np.linspace(0, total - size, _WINDOWS).astype(np.int64)
    return np.unique((starts[:, None] + np.arange(size)).ravel())


def evenly(count: int, most: int) -> IntArray:
    """So many indices at most, spread evenly over `count` of them."""
    return np.linspace(0, count - 1, min(count, most)).astype(int)


def split_of(name: str) -> str:
    """`train`, `val` or `test`, as a name says; empty where it does not."""
    match = _SPLIT.search(name.replace("_", "-"))
    word = match[1].lower() if match else ""
    return "" if not word else "train" if word.startswith("tr") else "test" if word == "test" else "val"


def target_among(names: Sequence[str]) -> str:
    """The column that is called like a target; empty where none is."""
    for name in names:
        if _TARGETS.match(name):
            return name
    tails = [name for name in names if re.search(r"(?:^|_)(?:label|target|class|outcome)$", name, re.I)]
    return tails[0] if len(tails) == 1 else ""


def column_of_classes(part: DataPart, counts: Sequence[int]) -> str:
    """The only column whose values are as frequent as the classes that were counted; empty where none is."""
    if part.array or len(counts) < 2 or sum(counts) < _COUNTED:
        return ""
    expected_shares = np.sort(np.array(counts, dtype=np.float64))[::-1] / sum(counts)
    fits = []
    for name in (*part.names, *part.words):
        values = part.column(name)
        every = np.array(part.words[name], dtype=str) if values is None else values[np.isfinite(values)]
        shares = np.sort(np.unique(every, return_counts=True)[1])[::-1] / max(1, len(every))
        if len(shares) == len(expected_shares) and not part.is_key(name):
            error = np.sqrt(shares * (1 - shares) / min(sum(counts), len(every)))
            if (np.abs(shares - expected_shares) <= 0.01 + 4 * error).all():
                fits.append(name)
    return fits[0] if len(fits) == 1 else ""


def last_column(part: DataPart) -> str:
    """The last column of a table, by which targets are mostly kept; empty for ids, times and running text."""
    name = part.columns[-1] if part.columns and not part.array else ""
    words = part.words.get(name)
    if not name or len(part.columns) < 3 or part.is_key(name) or (words is not None and _running(words)):
        return ""
    has_few_values = words is None or 2 <= len(set(words)) <= min(_CLASSES_MOST, len(words) // 8)
    return name if has_few_values else ""


def is_target_array(name: str) -> bool:
    """`y_train`, `labels`, `train_targets`."""
    return bool(_TARGET_ARRAY.search(os.path.splitext(os.path.basename(name))[0].replace("-", "_")))


def from_words(
    name: str, path: str, columns: Mapping[str, Sequence[str]], rows: IntArray, total: int
) -> DataPart:
    """A part of columns as text: those whose values are numbers become numbers."""
    numbers: dict[str, FloatArray] = {}
    words: dict[str, Sequence[str]] = {}
    odd: dict[str, tuple[int, str]] = {}
    for column, values in columns.items():
        parsed, strange = _numbers(values)
        if parsed is None:
            words[column] = values
        else:
            numbers[column] = parsed
            if strange:
                odd[column] = (len(strange), strange[0])
    matrix = np.column_stack(list(numbers.values())) if numbers else np.empty((len(rows), 0))
    part = DataPart(
        name, path, rows, total, matrix, tuple(numbers), words, split=split_of(name), odd_cells=odd,
        columns=tuple(columns),
    )  # fmt: skip
    return replace(part, target=target_among(list(columns)))


def _numbers(values: Sequence[str]) -> tuple[FloatArray | None, list[str]]:
    """The values as numbers, NaN where one is missing, and what is neither; None where most are words."""
    parsed = np.full(len(values), np.nan)
    strange: list[str] = []
    present = 0
    for at, value in enumerate(values):
        text = value.strip()
        if text.lower() in MISSING:
            continue
        present += 1
        try:
            parsed[at] = float(text)
        except ValueError:
            strange.append(text)
            if len(strange) > 40 and len(strange) > 0.05 * present:
                return None, []
    if not present or len(strange) > 0.05 * present:
        return None, []
    return parsed, strange
