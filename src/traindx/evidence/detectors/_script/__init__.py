"""Findings from the source of the training script, read without running it: what their writer imports.

How to write one. `detect(training)` gives every place where the thing is seen, or `Skipped`; of these a
diagnosis takes the first that no `# traindx: ignore` silences. `training` is what most detectors ask:
`.iterations` (loops with a backward pass and a step), `.steps`, `.backwards`, `.zeros`, `.scheduler_steps`,
`.losses` (calls of loss functions with what they got), `.managed` (a framework runs the loop).
`training.trace` is what the script would do, call by call: `.events` (each with the value, the loops, the
branches and the `with` contexts around it, in order), `.bindings` (every assignment), `.classes`,
`.instances`. Values know what they were made of (`source.values`) and what they are (`source.roles`).
`source.edit_pieces` makes edits. Cases are sources: scripts instead of runs.

Be sure or be silent: what is not understood is `Unknown`, `Either` is one of several. Give an empty list
only when the thing looked for was there to look at (a training loop, a loss); else `Skipped("what is
missing")`.
"""

from collections.abc import Iterable, Iterator

from traindx.core.nouns import Edit, Finding, Severity, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.samples import script
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, where
from traindx.source import Script
from traindx.source.edit_pieces import place, put_after, put_before, remove, replaced, segment
from traindx.source.execution import Binding, CallEvent, Loop
from traindx.source.training import Iteration, Training

Iterations = tuple[Iteration, ...]
Places = Iterable[Finding] | Skipped
Scripts = Iterator[Script]

__all__ = [
    "NO_LOOP",
    "Binding",
    "CallEvent",
    "Case",
    "Detector",
    "Edit",
    "Finding",
    "Iteration",
    "Iterations",
    "Loop",
    "Places",
    "Script",
    "Scripts",
    "Severity",
    "Skipped",
    "Training",
    "code",
    "loss_of",
    "place",
    "put_after",
    "put_before",
    "remove",
    "replaced",
    "script",
    "segment",
    "where",
]  # fmt: skip
