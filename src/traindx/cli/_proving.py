"""What a proof says while it runs: one line for each pair, and one that moves on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from traindx.cli import Failure
from traindx.cli._treating import TreatProgress
from traindx.report.document import Block, Labelled
from traindx.report.text import lasting, visible

if TYPE_CHECKING:
    from traindx.experiment.arms import Outcome
    from traindx.experiment.prove.results import Proved, VersionVerdict
    from traindx.experiment.prove.sequential import Rule
    from traindx.experiment.prove.versions import Version
    from traindx.observe.program import Program
    from traindx.source.script import Script


class ProveProgress(TreatProgress):
    """Shows the progress of a race."""

    def _first(self, outcome: Outcome, shortened: str) -> Iterator[Block]:
        length = f"; then {shortened}" if shortened else ""
        text = f"{outcome.steps:,} {outcome.unit} in {lasting(outcome.seconds)}{length}"
        yield Labelled("before", text)

    def _pair(self, seed: int, verdicts: list[VersionVerdict]) -> Iterator[Block]:
        for verdict in verdicts:
            if verdict.pairs and verdict.pairs[-1].seed == seed:
                pair = verdict.pairs[-1]
                change = f"{verdict.by.words} {pair.before.value:.4g} -> {pair.after.value:.4g}"
                text = f"{verdict.version.name}: {change}; {verdict.answer} so far"
                yield Labelled(f"pair {seed + 1}", text)


def race(
    program: Program,
    script: Script | None,
    before: Version,
    candidates: Sequence[Version],
    budget: float,
    rule: Rule,
    options: Mapping[str, Any],
) -> Proved:
    """The versions in pairs; the options are `as_json`, `metric`, `steps` and `jobs`."""
    from traindx.cli._programs import workshop
    from traindx.experiment.measure import NoSuchMetric
    from traindx.experiment.prove.prove import Race
    from traindx.experiment.prove.results import CannotProve, ProveRequest

    progress = ProveProgress(quiet=options["as_json"])
    request = ProveRequest(options["metric"], options["steps"], rule)
    progress.doing(f"running {visible(program.name, 60)} as it is")
    try:
        with workshop(program, budget, options["jobs"]) as shop:
            return Race(shop, script, before, candidates, request, progress).run()
    except (NoSuchMetric, CannotProve) as error:
        raise Failure(visible(str(error), 400)) from None
    except ValueError as error:
        if "outside the folders" not in str(error):
            raise
        raise Failure(visible(str(error), 300)) from None
    finally:
        progress.close()
