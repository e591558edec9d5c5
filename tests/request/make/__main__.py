"""Writes every log again."""

from __future__ import annotations

from tests.request.make import curves, gaps, healthy, healthy_tasks, norms, plateaus  # noqa: F401
from tests.request.make.shapes import LOGS, MAKERS

LOGS.mkdir(parents=True, exist_ok=True)
for make in MAKERS:
    make()
