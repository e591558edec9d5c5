"""Detectors of other packages: found through their entry points, and evidence for the causes they name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DETECTOR = """
\"\"\"The loss is above 100.\"\"\"
from traindx.evidence.detector import Curve, Detected, Detector, Finding

DETECTOR = Detector(title="Loss above 100", family="huge", speaks_for={"low_precision": (9.0, -1.0)})


def detect(loss: Curve, *, limit: float = 100.0) -> Detected:
    if loss.y.max() < limit:
        return None
    return Finding("The loss is above 100.", "divergence", "high", float(loss.x[0]))
"""


@pytest.mark.parametrize("installed", [True, False])
def test_a_detector_of_a_plugin_is_evidence_for_the_cause_it_names(tmp_path: Path, installed: bool) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    (site / "huge-1.0.dist-info").mkdir(parents=True)
    work.mkdir()
    (site / "loss_huge.py").write_text(DETECTOR)
    if installed:
        (site / "huge-1.0.dist-info" / "entry_points.txt").write_text(
            "[traindx.detectors]\nhuge = loss_huge\n"
        )
    values = [2.0 * 0.97**step for step in range(60)] + [200.0] * 60
    (work / "log.csv").write_text("step,loss\n" + "".join(f"{n},{v}\n" for n, v in enumerate(values)))
    paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "traindx", "diagnose", "log.csv", "--json"],
        cwd=work,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    document = json.loads(done.stdout)
    hypotheses = document["problems"][0]["hypotheses"]
    named = {one["cause"]: [item["finding"] for item in one["evidence"]] for one in hypotheses}
    assert ("loss_huge" in named.get("low_precision", [])) is installed
