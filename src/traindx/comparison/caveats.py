"""What makes a comparison worth less than it seems."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

import numpy as np

from traindx.comparison.equal_terms import Terms, scale
from traindx.comparison.results import Results
from traindx.comparison.script_diff import CodeDifference
from traindx.comparison.subjects import Subject
from traindx.comparison.sweep import Sweep, unlike
from traindx.core.number_text import short

_NAMED_MOST = 6
_LONGER = 1.5


def warnings_of(
    all_runs: Sequence[Subject],
    twice: Sequence[tuple[int, int, tuple[str, ...]]],
    results: Results,
    equal_terms: Terms,
    code: CodeDifference | None,
    swept: Sweep | None,
) -> tuple[str, ...]:
    """Sentences, the gravest first."""
    chosen = results.chosen
    warnings = [*_confounded(results, code), *_aliased(swept), *_only_seed(results)]
    for first, second, apart in twice[:3]:
        names = f"{all_runs[second].name} and {all_runs[first].name}"
        if apart:
            warnings.append(
                f"{names} differ in {', '.join(apart)}, yet every curve is equal: the change did not reach "
                "the training, or one log is a copy of the other."
            )
        else:
            warnings.append(f"{names} are the same run (every curve is equal): counted once.")
    if len(results.configurations) > 2 and unlike(results):
        warnings.append(
            "These seem to be different trainings: most settings are known of some runs only. They are "
            "ranked, but not analysed as a sweep."
        )
    if equal_terms.why_not:
        warnings.append(_sentence(equal_terms.why_not))
    if chosen.why:
        warnings.append(f"Compared by {chosen.name}: {chosen.why}.")
    elif chosen.name == "loss":
        warnings.append(
            "No validation metric is shared: compared by the training loss, which overfitting flatters."
        )
    warnings += [
        *_left_out(results),
        *_lengths(results, equal_terms),
        *_thin(results),
        *_settings_from_elsewhere(results.runs),
    ]
    return tuple(warnings)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _confounded(results: Results, code: CodeDifference | None) -> list[str]:
    if len(results.configurations) != 2:
        return []
    settings = [setting.key for setting in results.changing]
    changes = list(settings)
    if code is not None:
        first, second = (results.runs[group.runs[0]] for group in results.configurations)
        places = f"the script in {code.changes} place{'s' if code.changes != 1 else ''}"
        if _arguments(first) == _arguments(second):
            # The same command: what differs in the settings comes from the script.
            changes = [f"place {number} of the script" for number in range(1, code.changes + 1)]
            settings = [places]
        elif code.changes:
            changes.append(places)
            settings = [*settings, places]
    if len(changes) < 2:
        return []
    listed = ", ".join(settings[:_NAMED_MOST]) + (", ..." if len(settings) > _NAMED_MOST else "")
    return [
        f"More than one thing changed ({listed}): the comparison is confounded. It can say which run is "
        "better, not which change made it so."
    ]


def _arguments(run: Subject) -> list[str] | None:
    """What the training was called with, the script's own name left out."""
    command = run.run.facts.get("command")
    if not isinstance(command, str):
        return None
    try:
        return [word for word in shlex.split(command) if not word.endswith(".py")]
    except ValueError:
        return None


def _aliased(swept: Sweep | None) -> list[str]:
    if swept is None:
        return []
    return [
        f"{' and '.join(group)} always changed together: their effects cannot be separated (confounded); "
        f"reported as the effect of {group[0]}."
        for group in swept.aliased
    ]


def _only_seed(results: Results) -> list[str]:
    if len(results.configurations) != 1 or len(results.runs) < 2:
        return []
    ends = [level.value for level in results.finals(results.configurations[0])]
    spread = ""
    if len(ends) > 1:
        sd = float(np.std(ends, ddof=1))
        spread = (
            f" They end at {short(float(np.mean(ends)))} with a standard deviation of {short(sd)} between "
            "runs: a change that gains less than about twice that cannot be seen with one run."
        )
    seeds = any(setting.group == "seed" and len(setting.distinct) > 1 for setting in results.differing)
    if seeds:
        return [f"Only the seed differs: these are repeats, and what differs between them is noise.{spread}"]
    return [
        "Nothing that is known of these runs differs, not even a seed: they count as repeats. If something "
        f"was changed, log it.{spread}"
    ]


def _left_out(results: Results) -> list[str]:
    chosen = results.chosen
    if not chosen.left_out:
        return []
    names = _listed([results.runs[number].name for number in chosen.left_out])
    return [f"{names} {'has' if len(chosen.left_out) == 1 else 'have'} no {chosen.name}: not ranked."]


def _lengths(results: Results, equal_terms: Terms) -> list[str]:
    ends = [
        (scale(run, curve, equal_terms.axis) * score.last_step, run.name)
        for run, score in results.scored
        if score.ended and (curve := run.curve(results.chosen.name)) is not None
    ]
    if len(ends) < 2 or equal_terms.axis is None:
        return []
    short_one, long_one = min(ends), max(ends)
    if short_one[0] <= 0 or long_one[0] < _LONGER * short_one[0]:
        return []
    unit = "samples" if equal_terms.samples is not None else "steps"
    return [
        f"The runs are not equally long ({short_one[1]} ends at {equal_terms.axis} {short(short_one[0])}, "
        f"{long_one[1]} at {short(long_one[0])}): compare at equal {unit}, not only at the end."
    ]


def _thin(results: Results) -> list[str]:
    metric, scored = results.chosen.name, results.scored
    thin = [run.name for run, score in scored if score.points == 1]
    without_points = [run.name for run, score in scored if score.points == 0]
    sentences = []
    if without_points:
        sentences.append(f"{_listed(without_points)}: {metric} is NaN or Inf at every point; ranked last.")
    if thin:
        sentences.append(
            f"{_listed(thin)}: {metric} has one point only, so its noise is not known and nothing can "
            "be said about how sure a difference is."
        )
    broken = [
        f"{run.name} from {short(score.broken_from)}"
        for run, score in scored
        if score.points and score.broken_from is not None and math.isfinite(score.broken_from)
    ]
    if broken:
        sentences.append(f"Ended in NaN or Inf, and so ranked last: {_listed(broken)}.")
    return sentences


def _settings_from_elsewhere(runs: Sequence[Subject]) -> list[str]:
    """Where settings come from when the logs themselves do not have them."""
    parts = []
    filed = [run for run in runs if run.by_file]
    if filed:
        parts.append(
            f"The settings of {len(filed):,} of {len(runs):,} runs come from a file next to the log, not "
            "from the log itself."
        )
    keys = sorted({key for run in runs for key in run.by_name})
    if keys:
        parts.append(f"The logs do not have {', '.join(keys)}: taken from the names of the runs.")
    return parts


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
