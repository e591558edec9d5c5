"""`traindx.check`: what is at rest, for Python."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from traindx.checkup.target import CheckRequest, run_of
from traindx.core.nouns import Diagnosis, Run, Unreadable
from traindx.core.settings import Thresholds
from traindx.engine import case_of, diagnose_case

Path = str | os.PathLike[str]


def check(
    what: Any,
    data: Any = None,
    loss: Any = None,
    *,
    model: str = "",
    trust_code: bool = False,
    curvature: bool = False,
    overfit: bool = False,
    lr: float | None = None,
    target: str = "",
    thresholds: Thresholds | None = None,
) -> Diagnosis:
    """What can be seen of a checkpoint, of data, or of a model with data and a loss, without a training.

    `what` is a path (several are compared), `file.py:name`, or a `torch.nn.Module`; then `data` gives batches
    (a loader, or a file) and `loss` is a function of output and target, or its name. `model` names the
    function (`file.py:name`) that makes the model of a checkpoint. A model is as before afterwards.
    `curvature` measures eigenvalues of the Hessian, `overfit` whether a copy can fit one batch.

    Nothing wrong found is no verdict about a training: the verdict is then `insufficient_evidence`, and
    `reasons` say what was checked. `target` is the column of the labels. `trust_code` loads a pickle that
    runs code, in a process of its own.
    """
    try:
        request = CheckRequest((), data, model, loss, trust_code, curvature, overfit, lr, target)
        run = _run(what, request)
    except Unreadable as error:
        raise ValueError(str(error)) from None
    return diagnose_case(case_of(run), thresholds)


def _run(subject: Any, request: CheckRequest) -> Run:
    if isinstance(subject, str | os.PathLike):
        return run_of(replace(request, targets=(os.fspath(subject),)))
    if isinstance(subject, list | tuple):
        return run_of(replace(request, targets=tuple(os.fspath(path) for path in subject)))
    if not hasattr(subject, "named_parameters"):
        raise TypeError(f"what must be a path or a torch.nn.Module; got {type(subject).__name__}.")
    if request.data is None:
        raise TypeError("a model is checked together with data: traindx.check(model, loader, loss_fn).")
    from traindx.checkup.model.check import run_of_model

    return run_of_model(request, subject)
