"""Generic tables as Python's csv and json, NumPy, pandas and orjson write them."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path

import numpy as np
import orjson
import pandas as pd

HERE = Path(__file__).resolve().parent
ROWS = [
    {
        "step": step,
        "loss": {40: math.nan, 50: math.inf}.get(step, 2.5 / (1 + step / 10)),
        "val_loss": 3.0 / (1 + step / 10) if step % 20 == 0 else None,
        "lr": 1e-3 * (1 - step / 100),
        "grad_norm": 1.0 + step / 7,
    }
    for step in range(0, 100, 10)
]


def write(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(ROWS)
    with open(out / "python.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    full = frame[["step", "loss", "lr", "grad_norm"]]
    np.savetxt(out / "numpy_metrics.txt", full.to_numpy(), header="step loss lr grad_norm")
    title = "step,loss,lr,grad_norm"
    np.savetxt(out / "numpy_metrics.csv", full.to_numpy(), delimiter=",", header=title, comments="")
    gapless = frame[["step", "lr", "grad_norm"]].assign(accuracy=frame["step"] / 100)
    gapless.to_csv(out / "pandas.csv")
    gapless.to_csv(out / "pandas_german.csv", sep=";", decimal=",", index=False)
    gapless.to_csv(out / "pandas_utf16.tsv", sep="\t", index=False, encoding="utf-16")
    (out / "python.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    rows = [{k: v for k, v in row.items() if v is not None and math.isfinite(v)} for row in ROWS]
    (out / "orjson.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    gapless.to_json(out / "pandas.jsonl", orient="records", lines=True)
    gapless.to_json(out / "pandas_columns.json")
    gapless.to_json(out / "pandas_records.json", orient="records")
    gapless.to_json(out / "pandas_split.json", orient="split")
    gapless.to_json(out / "pandas_index.json", orient="index")
    lists = {key: [row[key] for row in ROWS] for key in ("loss", "lr")}
    lists["val_loss"] = [row["val_loss"] for row in ROWS if row["val_loss"] is not None]
    (out / "history.json").write_text(json.dumps({"args": {"epochs": 10}, "history": lists}))
    (out / "truth.json").write_text(json.dumps(_truth(), indent=1))
    path = HERE / "versions.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    mine = {"numpy": np.__version__, "pandas": pd.__version__, "orjson": orjson.__version__}
    path.write_text(json.dumps({**known, **mine}, indent=2, sort_keys=True) + "\n")


def _truth() -> dict[str, object]:
    series: dict[str, list[list[object]]] = {}
    for row in ROWS:
        for name, value in row.items():
            if name != "step" and value is not None:
                shown = value if math.isfinite(value) else "Infinity" if value == math.inf else "NaN"
                series.setdefault(name, []).append([row["step"], shown])
    series["accuracy"] = [[row["step"], row["step"] / 100] for row in ROWS]
    return {"series": series}


if __name__ == "__main__":
    write(Path(sys.argv[1]))
