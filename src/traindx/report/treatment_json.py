"""A treatment as JSON: schema `traindx/treatment/1`, described in docs/treat.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traindx import __version__
from traindx.report.diagnosis_json import diagnosis_dict
from traindx.report.json_text import json_document
from traindx.report.treatment_advice import recommendations_of

if TYPE_CHECKING:
    from traindx.experiment.arms import Outcome
    from traindx.experiment.treat.before_after import BeforeAfter
    from traindx.experiment.treat.remedy_verdict import TrialVerdict
    from traindx.experiment.treat.results import Round, Treated, Trial

SCHEMA = "traindx/treatment/1"


def treatment_document(treated: Treated) -> bytes:
    """The whole document. JSON has no NaN: numbers that are not finite are strings."""
    return json_document(treatment_dict(treated))


def treatment_dict(treated: Treated) -> dict[str, Any]:
    cost = treated.cost
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "script": treated.script,
        "args": treated.args,
        "status": treated.status,
        "said": treated.summary,
        "changed_files": sorted(treated.sources),
        "new_args": treated.new_args,
        "cost": {
            "seconds": round(cost.seconds, 2),
            "steps": cost.steps,
            "arms": cost.arms,
            "trainings": round(cost.trainings, 2),
            "trainings_seconds": round(cost.trainings_seconds, 2),
        },
        "before": None if treated.before is None else diagnosis_dict(treated.before),
        "after": None if treated.final is None else diagnosis_dict(treated.final),
        "rounds": [_round(trial_round) for trial_round in treated.rounds],
        "results": _scores(treated.scores),
        "recommendations": recommendations_of(treated),
        "stop": treated.stop,
    }


def _scores(scores: BeforeAfter) -> dict[str, Any]:
    """Every loss and score before and after, and what a success is made of."""
    return {
        "series": [
            {
                "name": change.by.name,
                "higher_is_better": change.by.higher,
                "last": change.last,
                "best": change.best,
                "last_gain": change.last_gain,
                "best_gain": change.best_gain,
            }
            for change in scores.changes
        ],
        "gap": scores.gap,
        "success": scores.criteria,
    }


def _round(trial_round: Round) -> dict[str, Any]:
    return {
        "horizon": trial_round.horizon,
        "plan": [
            {
                "cause": course.cause,
                "confidence": round(course.confidence, 4),
                "candidates": [{"remedy": c.remedy, "change": c.name} for c in course.candidates],
                "instructions": [words.text for _, words in course.instructions],
            }
            for course in trial_round.plan
        ],
        "trials": [_trial(trial) for trial in trial_round.trials],
        "winner": None if trial_round.winner is None else trial_round.winner.candidate.name,
        "edit": None if trial_round.edited is None else trial_round.edited.text,
        "instruction": None if trial_round.instruction is None else trial_round.instruction.text,
        "proof": None
        if trial_round.proof is None
        else {
            "reproduced": trial_round.proof.reproduced,
            "verdict": verdict_dict(trial_round.proof.verdict),
            "expected": trial_round.proof.expected,
            "results": _scores(trial_round.proof.scores),
        },
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "remedy": trial.candidate.remedy,
        "cause": trial.candidate.cause,
        "change": trial.candidate.name,
        "steps": trial.steps,
        "verdict": None if trial.verdict is None else verdict_dict(trial.verdict),
        "said": trial.reason,
        "expected": trial.expected,
        "arms": [_outcome(outcome) for outcome in trial.outcomes],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "seed": outcome.arm.seed,
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 2),
        "ended": outcome.ended,
        "said": outcome.message,
        "changes": outcome.changes,
        "failed": outcome.failed,
        "writes": outcome.outside,
    }


def verdict_dict(verdict: TrialVerdict) -> dict[str, Any]:
    """A verdict with its pairs, interval and test."""
    difference = verdict.difference
    return {
        "word": verdict.word,
        "text": verdict.text,
        "metric": verdict.by.name,
        "higher_is_better": verdict.by.higher,
        "gain": verdict.gain,
        "interval": [difference.low, difference.high],
        "p": difference.p,
        "pairs": [{"seed": pair.seed, "before": pair.before, "after": pair.after} for pair in verdict.pairs],
        "symptom_gone": verdict.symptom_gone,
        "new_problems": verdict.new_problems,
    }
