"""Sample of DVCLive: metrics in folders, one with timestamps, final values, parameters."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]

from dvclive import Live  # noqa: E402


def write(out: Path) -> None:
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    series: dict[str, list[list[object]]] = {
        "train/loss": [], "val/loss": [], "grad_norm": [], "metrics/mAP50(B)": [], "final_score": []
    }  # fmt: skip
    config = {"learning_rate": 0.05, "optimizer": {"name": "sgd", "momentum": 0.9}}
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        with Live(str(out / "dvclive"), save_dvc_exp=False, dvcyaml=None) as live:
            live.log_params(config)
            for step in range(8):
                values = {
                    "train/loss": 1.0 / (1 + step),
                    "val/loss": 1.2 / (1 + step),
                    "grad_norm": {3: math.nan, 5: math.inf}.get(step, 2.0),
                    "metrics/mAP50(B)": step / 10,
                }
                for name, value in values.items():
                    live.log_metric(name, value, timestamp=name == "grad_norm")
                    shown = value if math.isfinite(value) else "Infinity" if value == math.inf else "NaN"
                    series[name].append([step, shown])
                if step < 7:
                    live.next_step()
            live.log_metric("final_score", 0.75, plot=False)
            series["final_score"].append([7, 0.75])
        os.chdir(home)
    (out / "truth.json").write_text(json.dumps({"series": series, "config": config}, indent=1))
    path = HERE / "versions.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, "dvclive": version("dvclive")}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
