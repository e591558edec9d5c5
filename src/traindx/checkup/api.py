"""`traindx.check`: what is at rest, for Python."""

from __future__ import annotations

import os
from typing import Any

from traindx.checkup.target import CheckRequest, run_of
from traindx.core.nouns import Diagnosis, Unreadable
from traindx.core.settings import Thresholds
from traindx.engine import case_of, diagnose_case

Path = str | os.PathLike[str]


def check(
    what: Any,
    data: Any = None,
    loss: Any = None,
    *,
    trust_code: bool = False,
    curvature: bool = False,
    target: str = "",
    thresholds: Thresholds | None = None,
) -> Diagnosis:
    """What can be seen of a checkpoint or of data, without a training; several paths are compared.

    Nothing wrong found is no verdict about a training: the verdict is then `insufficient_evidence`, and
    `reasons` say what was checked. `target` is the column of the labels. `trust_code` loads a pickle that
    runs code, in a process of its own.
    """
    paths = tuple(os.fspath(one) for one in ([what] if isinstance(what, str | os.PathLike) else what))
    try:
        run = run_of(CheckRequest(paths, data, loss, trust_code, curvature, target))
    except Unreadable as error:
        raise ValueError(str(error)) from None
    return diagnose_case(case_of(run), thresholds)
