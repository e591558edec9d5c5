"""Diagnoses made by hand on real and made-up curves, for the tests of what is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import traindx
from traindx.core.nouns import Check, Diagnosis, Evidence, Finding, Fix, Hypothesis, Problem, Run, Series

DEMO = Path(traindx.__file__).parent / "cli" / "_demo" / "diverged.log"
EVIL = (
    "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold]\r\n\x00\x9b2J\u202eabc\ud800\udcff <script>alert(1)</script>"
)
EVIL_MARKDOWN = (
    "![x](http://evil.example/x.png) **bold** `code` | <img src=x onerror=alert(1)> &lt; $x$ _y_ # h"
)

COVERAGE = (
    *(Check(f"check_{number:02}", "ran", seen=number < 7) for number in range(41)),
    *(
        Check(f"grad_check_{n}", "skipped", needs="the gradient norm, logged (grad_norm)")
        for n in range(1, 8)
    ),
    *(Check(f"val_check_{n}", "skipped", needs="a validation loss (val/loss)") for n in range(1, 6)),
    Check("accuracy_at_chance", "skipped", needs="the training accuracy (accuracy)"),
    Check("accuracy_at_majority", "skipped", needs="accuracy|val/accuracy"),
    Check("loss_scale_collapse", "skipped", needs="loss_scale"),
    Check("config_dropout_high", "skipped", needs="setting:dropout"),
    Check("double_descent", "skipped", needs="at least 20 evaluations of the validation loss"),
)


def demo_run() -> Run:
    """The shipped training that went to NaN."""
    (run,) = traindx.read(DEMO).runs
    return replace(run, name=DEMO.name, path=DEMO.name, files=(DEMO.name,))


def curve(name: str, values: object, axis: str = "step") -> Series:
    array = np.asarray(values, dtype=np.float64)
    return Series(name, np.arange(array.size, dtype=np.float64), array, name, "lower", axis=axis)  # type: ignore[arg-type]


def run_of(*curves: Series, name: str = "made-up", axis: str = "step") -> Run:
    return Run(name, name, ("csv",), axis, {one.name: one for one in curves})  # type: ignore[arg-type]


RISE = (
    "The loss rose from 0.97 at step 370 to 18.2 at step 1,080 and never came back: 12 times its own noise."
)
NONFINITE = (
    "The loss is NaN at 42 of 151 points, the first at step 1,090; gradients followed within 10 steps."
)


def _lr_too_high() -> Hypothesis:
    return Hypothesis(
        cause="lr_too_high",
        title="Learning rate too high",
        confidence=0.82,
        evidence=(
            Evidence(
                "rise_follows_lr",
                "The loss turned up at step 440 while lr was still climbing: it had reached 0.147 of 0.4.",
                2.5,
                440.0,
                "lr",
            ),
            Evidence(
                "config_lr_high",
                "lr 0.4 with momentum 0.9 is 4 times the usual top for plain SGD (0.1).",
                1.5,
            ),
            Evidence(
                "oscillation_grows", "Swings of the loss grew 6-fold from step 300 on.", 1.2, 300.0, "loss"
            ),
            Evidence(
                "grad_norm_grows",
                "The gradient norm grew from 1.7 to 640, with the loss and not before it.",
                0.5,
                450.0,
                "grad_norm",
            ),
            Evidence("loss_nonfinite", NONFINITE, 0.0, 1090.0, "loss"),
        ),
        against=(Evidence("loss_spikes", "Checked, not found: loss spikes before the rise.", -0.5),),
        fixes=(
            Fix(
                "lower_lr",
                "Lower lr from 0.4 to 0.04: the loss began to rise at step 440, where lr had reached 0.147.",
                {"lr": 0.04},
            ),
            Fix(
                "clip_gradients", "Clip gradients at norm 2.1, the median of the healthy part.", {"clip": 2.1}
            ),
            Fix("add_warmup", "Keep the 1,200 steps of warm-up."),
        ),
        confirm="Run 600 steps with `lr = 0.04` and nothing else changed. If the loss passes step 440 "
        "without turning up, the rate was the cause; if it still rises there, look at the batch of step 440.",
        avoid=(
            "Do not only clip: clipping hides a rate that is too high and the loss stays noisy.",
            "Do not resume from a checkpoint after step 370: its weights are already damaged.",
            "Do not change the batch size at the same time.",
        ),
        sheets=("learning_rate_schedules", "gradient_management"),
    )


def _others() -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(
            "unclipped_gradients",
            "Gradients not clipped",
            0.11,
            (Evidence("config_no_clipping", "Clipping is off: grad_clip = 0.", 0.7),),
            (
                Evidence(
                    "spikes_with_gradients",
                    "No gradient spike precedes the rise of the loss.",
                    -1.5,
                    None,
                    "grad_norm",
                ),
            ),
            (Fix("clip_gradients", "Clip gradients at norm 2.1.", {"clip": 2.1}),),
            "Run 600 steps with clipping at 2.1 and the same lr.",
        ),
        Hypothesis(
            "momentum_misset",
            "Momentum too high",
            0.03,
            (),
            (),
            (Fix("set_momentum", "Set momentum to 0.5."),),
        ),
        Hypothesis(
            "unstable_math", "Unstable maths", 0.015, (), (), (Fix("guard_math", "Guard log and sqrt."),)
        ),
    )


def _slow() -> Problem:
    wait = "Step time grew from 0.8 ms to 1.9 ms from step 900 on, 9 times its noise."
    return Problem(
        symptom="slow_training",
        also=(),
        severity="medium",
        onset_step=900.0,
        summary=wait,
        findings=(Finding(wait, "slow_training", "medium", 900.0, series="step_s", id="step_time_creeps"),),
        hypotheses=(
            Hypothesis(
                "input_bound",
                "Waiting for data",
                0.44,
                (Evidence("step_time_creeps", wait, 0.8, 900.0, "step_s"),),
                (),
                (Fix("feed_faster", "Raise the workers of the loader from 0 to 4."),),
                "Repeat one batch for 100 steps: if steps are as fast as at the start, the loader is slow.",
                ("Do not buy a faster device first.",),
                ("batch_size_and_memory",),
            ),
            Hypothesis(
                "sync_bound",
                "Synchronisation in the loop",
                0.31,
                (),
                (),
                (Fix("move_sync_out", "Log less."),),
            ),
        ),
        rest=0.25,
        questions=("How long does each step wait for data? Log it as data_wait_s.",),
    )


def broken() -> Diagnosis:
    """Two problems worth acting on, one worth knowing, signs, and checks that could not look."""
    nan = Finding(
        NONFINITE,
        "nonfinite",
        "critical",
        1090.0,
        series="loss",
        numbers={"first_nan": 1090.0, "worst": float("inf")},
        marks=(1090.0,),
        id="loss_nonfinite",
        family="nonfinite",
        thresholds={"share": 0.01},
    )
    rise = Finding(RISE, "divergence", "critical", 440.0, series="loss", id="loss_diverges", family="rise")
    low = "Validation was measured 7 times only; its noise is 8 % of its level."
    return Diagnosis(
        run=demo_run(),
        verdict="problem",
        problems=(
            Problem(
                "nonfinite",
                ("divergence", "exploding_gradients"),
                "critical",
                1090.0,
                NONFINITE,
                (nan, rise),
                (_lr_too_high(), *_others()),
                0.025,
                (
                    "Does the loss rise at the same step when the data order is changed?",
                    "In which precision does it run? Keep the configuration beside the log.",
                ),
            ),
            _slow(),
            Problem("overfitting", (), "low", None, low, (Finding(low, "overfitting", "low"),), (), 1.0),
        ),
        coverage=COVERAGE,
        signs=(
            Finding(
                "lr rose for 1,200 of 1,500 steps: the warm-up is 80 % of the run.", id="lr_still_warming"
            ),
            Finding("The loss started at 4.35, chance level for 76 classes (4.33).", id="loss_starts_high"),
        ),
        evidence=("log", "config"),
    )


def healthy() -> Diagnosis:
    steps = np.arange(400.0)
    loss = 0.4 + 3.9 * np.exp(-steps / 60) + 0.02 * np.sin(steps)
    return Diagnosis(
        run=run_of(curve("loss", loss), curve("val/loss", loss + 0.05), name="runs/healthy/metrics.csv"),
        verdict="healthy",
        problems=(),
        coverage=COVERAGE,
        reasons=(
            "The loss fell from 4.3 to 0.41 in 400 steps and is level in its noise (0.02) since step 290.",
            "Validation ends at 0.46, 0.05 above training, and is still at its best.",
            "No NaN, spike or swing beyond the noise in 800 points.",
        ),
        signs=(Finding("lr was constant throughout.", id="lr_constant"),),
    )


def short_run() -> Diagnosis:
    return Diagnosis(
        run=run_of(curve("loss", [2.0, 1.9, 1.8]), name="runs/short.csv"),
        verdict="insufficient_evidence",
        problems=(),
        coverage=tuple(
            replace(check, status="skipped", seen=False, needs="at least 10 points") for check in COVERAGE
        ),
        reasons=(
            "3 points are too few: let it run on, or log every 10 steps.",
            "Log val/loss and grad_norm too.",
        ),
    )


def evil(text: str = EVIL) -> Diagnosis:
    """Whatever a log can hold, wherever a text can stand."""
    base = broken()
    worst = replace(
        base.problems[0],
        symptom="nonfinite",
        also=(text,),
        onset_step=float("nan"),
        summary=text,
        findings=(
            Finding(text, text, "high", float("inf"), series=text, numbers={text: float("nan")}, id=text),
        ),
        hypotheses=(
            Hypothesis(
                text,
                text,
                float("nan"),
                (Evidence(text, text, float("inf"), float("nan"), text),),
                (Evidence(text, text, -3.0, 1e300, "loss"),),
                (Fix(text, text, {text: text}), Fix(text, text, {"lr": float("nan")})),
                text,
                (text, text),
                (text,),
            ),
            Hypothesis(text, text, 0.2, (), (), ()),
        ),
        questions=(text,),
    )
    run = replace(
        base.run,
        name=text,
        path=text,
        series={text: replace(curve(text, [1, np.nan, np.inf, -1e300, 1e300]), source=text)},
    )
    return replace(
        base,
        run=run,
        problems=(worst, replace(worst, severity="low")),
        coverage=(Check(text, "skipped", needs=text), Check(text, "ran", seen=True)),
        reasons=(text,),
        signs=(Finding(text, id=text, series=text),),
    )
