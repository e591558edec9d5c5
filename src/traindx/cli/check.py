"""`traindx check`: what can be seen of a checkpoint, a model or data without a training."""

from __future__ import annotations

from typing import Any

import click

from traindx.cli import Failure, note
from traindx.cli._reports import Outputs, output_options
from traindx.report.text import visible

_ASKED = ("data", "model", "loss", "trust_code", "curvature", "overfit", "lr")


@click.command(short_help="Check a checkpoint, a model or data, without a training.")
@click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
@click.option(
    "-a", "--all", "everything", is_flag=True, help="Everything: all layers, evidence, causes and checks."
)
@click.option(
    "--data",
    metavar="DATA",
    help="The batches for a model: train.py:make_loader, or a file or folder of data.",
)
@click.option(
    "--model",
    metavar="FILE:NAME",
    default="",
    help="What makes the model of a checkpoint: train.py:make_model.",
)
@click.option("--loss", metavar="NAME", help="The loss: cross_entropy, mse, bce, ..., or file.py:name.")
@click.option("--curvature", is_flag=True, help="Measure the Hessian's eigenvalues and trace too.")
@click.option("--lr", type=float, metavar="RATE", help="The learning rate to compare the curvature with.")
@click.option("--overfit", is_flag=True, help="Try whether a copy of the model can fit one batch.")
@click.option(
    "--trust-code",
    is_flag=True,
    help="Load a file that runs code of its author's; without --data in a process of its own.",
)
@click.option("--target", metavar="COLUMN", default="", help="The column of data that holds the labels.")
@output_options("traindx/diagnosis/1", "live", "Write PNGs of what was measured.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when a problem was found.")
def command(targets: tuple[str, ...], **options: Any) -> None:
    """Say what can be seen of a checkpoint, of data, or of a model with data, without a training.

    TARGET is a checkpoint, several, or a folder of them; or with --data a model: train.py:make_model, whose
    file is run for it, a checkpoint with --model, a model of Keras, TorchScript or torch.export;
    or data: tables (.csv, .tsv, .jsonl, .parquet), arrays (.npz, .npy), text, folders of images;
    several together, such as training and validation, with their statistics and vocabularies. Of a recording,
    the files that its training read. Nothing wrong found is no verdict about a training: it says what was
    checked.

    Exit code: 0 when nothing calls for action, 1 when there is a problem of medium severity or above, 2
    when it could not be done.
    """
    from traindx.checkup.target import CheckRequest, run_of
    from traindx.cli.diagnose import DiagnosisReport
    from traindx.core.nouns import Reading, Unreadable
    from traindx.engine import case_of, diagnose_case

    outputs = Outputs.checked(options)
    if options["curvature"]:
        note("Measuring the curvature takes about 150 passes over two batches.")
    try:
        limits = {name: options[name] for name in _ASKED}
        run = run_of(CheckRequest(targets, target_column=options["target"], **limits))
    except Unreadable as error:
        raise Failure(f"{visible(str(error), 400).rstrip('.')}.") from None
    outputs.refuse_logs([run])
    diagnosis = diagnose_case(case_of(run))
    outputs.write(DiagnosisReport([diagnosis], Reading((run,), ()), options["everything"]))
    if not options["exit_zero"] and diagnosis.verdict == "problem":
        raise SystemExit(1)
