"""The nouns of traindx: plain frozen data that every other module passes around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.float64]
    BoolArray = npt.NDArray[np.bool_]
    IntArray = npt.NDArray[np.int64]
else:  # NumPy is not loaded for the sake of a name in an annotation
    FloatArray = BoolArray = IntArray = Any

Axis = Literal["step", "epoch", "row"]
Goal = Literal["lower", "higher", "none"]
Scalar = str | int | float | bool | None
Severity = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")
# The others are worth knowing, not worth acting on.
ACTED_ON: tuple[Severity, ...] = SEVERITIES[:3]
Verdict = Literal["healthy", "problem", "insufficient_evidence"]
Number = float | int | str
Grade = Literal["show", "ask", "safe"]


# The kinds of events that are a program ended by an exception.
CRASHES = ("exception", "out_of_memory")


class Unreadable(Exception):
    """A file cannot be read; the message is one line for the user."""


@dataclass(frozen=True)
class Note:
    """A remark about the input for the user: skipped, torn, superseded, odd."""

    path: str
    text: str


@dataclass(frozen=True)
class Event:
    """Something that happened at one moment of a run: an overflow, a resume, a crash.

    `data` is what a recorder adds to the text: the origin of a NaN, names of parameters.
    """

    kind: str
    text: str
    step: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, eq=False)
class Series:
    """One curve. `steps` never decreases; NaN and Inf in `values` are values of the log.

    `axis` says what its steps count: mostly the same for all curves of a run, but a log may count
    validation by epochs and training by steps.
    """

    name: str
    steps: FloatArray
    values: FloatArray
    source: str
    goal: Goal = "none"
    floor: float | None = None
    times: FloatArray | None = None
    derived: str | None = None
    axis: Axis = "step"

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def whole(self) -> bool:
        """Whether its steps are whole numbers."""
        return bool((self.steps % 1 == 0).all())

    @property
    def best_point(self) -> tuple[float, float]:
        """Step and value of its best finite point, the lowest where it has no goal."""
        finite = abs(self.values) < float("inf")
        steps, values = self.steps[finite], self.values[finite]
        at = int(values.argmax() if self.goal == "higher" else values.argmin())
        return float(steps[at]), float(values[at])


@dataclass(frozen=True)
class Phase:
    """Which of several trainings of one script, or in one log, a run is.

    `name` is what the script itself calls it (`fold 3`); `before` counts the steps of the ones before it.
    """

    number: int
    of: int
    name: str = ""
    before: float = 0.0

    @property
    def title(self) -> str:
        """`fold 3 of 5`; `training 2 of 3` where the script gives it no name."""
        word, _, number = self.name.partition(" ")
        if number == str(self.number):
            return f"{word} {number} of {self.of}"
        place = f"training {self.number} of {self.of}"
        return f"{self.name}, {place}" if self.name else place


@dataclass(frozen=True, eq=False)
class Run:
    """One training as read from its logs.

    `axis` is what most of its curves are counted by; `formats` are the readers that read it, the main
    one first. `facts` is what a recording says about model, data, loss and optimizer (`run.json`). `phase` is
    set where it is one of several trainings.
    """

    name: str
    path: str
    formats: tuple[str, ...]
    axis: Axis
    series: Mapping[str, Series]
    config: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    events: tuple[Event, ...] = ()
    traits: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()
    files: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    phase: Phase | None = None

    @property
    def format(self) -> str:
        """The reader that read most of it."""
        return self.formats[0]

    @property
    def last_step(self) -> float | None:
        """The largest step any series reached."""
        ends = [float(s.steps[-1]) for s in self.series.values() if len(s)]
        return max(ends, default=None)

    @property
    def points(self) -> int:
        return sum(len(s) for s in self.series.values())


@dataclass(frozen=True)
class Reading:
    """The result of a search for runs: the runs, and what was skipped and why."""

    runs: tuple[Run, ...]
    skipped: tuple[Note, ...]


@dataclass(frozen=True)
class Place:
    """A location: a line of the user's source, a layer of the model, or both."""

    file: str = ""
    line: int | None = None
    layer: str = ""


@dataclass(frozen=True)
class Edit:
    """Lines `first` to `last` of a file become `new`; with `last` one below `first`, `new` is put before it.

    `grade` says how sure it is: `safe` may be applied unseen, `ask` changes what the program means,
    `show` is a sketch for a person to finish.
    """

    file: str
    first: int
    last: int
    new: tuple[str, ...]
    grade: Grade


@dataclass(frozen=True)
class Finding:
    """What one detector found, with its numbers.

    `symptom` is None for a sign: evidence for or against a cause that is no problem by
    itself (a constant learning rate, half precision). `strength` (0 to 1) says how clear it is.
    `numbers` are what was measured, under the names remedies use. `marks` are steps to mark in plots.
    `places` are the lines or layers concerned, the most informative first; `edits` would fix them.
    The engine fills in `id`, `family`, `counts_as` (unless the detector names one) and `thresholds`.
    """

    text: str
    symptom: str | None = None
    severity: Severity = "medium"
    step: float | None = None
    end: float | None = None
    series: str | None = None
    strength: float = 1.0
    numbers: Mapping[str, Number] = field(default_factory=dict)
    marks: tuple[float, ...] = ()
    places: tuple[Place, ...] = ()
    edits: tuple[Edit, ...] = ()
    id: str = ""
    family: str = ""
    counts_as: str = ""
    thresholds: Mapping[str, float | int | bool | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """A check that was not made; `needs` says what it requires.

    Empty when there is nothing to check and nothing is missing, such as no spike to locate.
    """

    needs: str = ""


@dataclass(frozen=True)
class AnswerEvidence:
    """What a person answered, in bits for (or against) causes; it counts once with findings of its family.

    `present` are causes that the answer says are there.
    """

    id: str
    family: str
    text: str
    bits: Mapping[str, float]
    present: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Check:
    """One line of the coverage: a check that was made, or what it would have needed."""

    check: str
    status: Literal["ran", "skipped"]
    seen: bool = False
    needs: str | None = None


@dataclass(frozen=True)
class Evidence:
    """A finding as evidence about one cause; negative bits are against it."""

    finding: str
    text: str
    bits: float
    step: float | None = None
    series: str | None = None


@dataclass(frozen=True)
class Fix:
    """A remedy with this run's own numbers filled in; `config` is setting -> new value.

    `trials` are the changes that try it in a running training, the likeliest first.
    """

    remedy: str
    summary: str
    config: Mapping[str, Scalar] = field(default_factory=dict)
    patch: str | None = None
    trials: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hypothesis:
    """One cause that may be the root of a problem; `kind_of` is the nearest id of the published taxonomy
    where the cause is not in it."""

    cause: str
    title: str
    confidence: float
    evidence: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    fixes: tuple[Fix, ...]
    confirm: str | None = None
    avoid: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    place: Place | None = None
    kind_of: str = ""


@dataclass(frozen=True)
class Problem:
    """A problem with its ranked causes; `rest` is the probability that none of them is right."""

    symptom: str
    also: tuple[str, ...]
    severity: Severity
    onset_step: float | None
    summary: str
    findings: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]
    rest: float
    questions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """Everything traindx says about one run.

    `reasons` are sentences: why the run counts as healthy, or what to log when evidence is insufficient.
    `signs` are the findings that belong to no problem.
    """

    run: Run
    verdict: Verdict
    problems: tuple[Problem, ...]
    coverage: tuple[Check, ...]
    reasons: tuple[str, ...] = ()
    signs: tuple[Finding, ...] = ()
    evidence: tuple[str, ...] = ("log",)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain data: what `traindx diagnose --json` prints for one run."""
        from traindx.report.diagnosis_json import diagnosis_dict

        return diagnosis_dict(self)

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from traindx.report.diagnosis import notebook_html

        return notebook_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How IPython shows it on a terminal, and keeps it as text in a notebook's file."""
        from traindx.report.answer import answer_text

        del cycle
        printer.text(answer_text(self))
