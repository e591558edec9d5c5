"""Sample of MMEngine: a real Runner trains a tiny model; its `vis_data/scalars.json` is the sample."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]

import mmengine  # noqa: E402
import torch  # noqa: E402
from mmengine.evaluator import BaseMetric, Evaluator  # noqa: E402
from mmengine.model import BaseModel  # noqa: E402
from mmengine.runner import Runner  # noqa: E402

LOSSES: list[float] = []


class Line(BaseModel):  # type: ignore[misc]
    """A straight line."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x, y, mode="tensor"):  # type: ignore[no-untyped-def]
        found = self.layer(x)
        if mode == "loss":
            loss = (found - y).pow(2).mean()
            LOSSES.append(float(loss.detach()))
            return {"loss": loss}
        return [found - y]


class Error(BaseMetric):  # type: ignore[misc]
    """Mean absolute error."""

    def process(self, _, data_samples):  # type: ignore[no-untyped-def]
        self.results.append(float(data_samples[0].abs().mean()))

    def compute_metrics(self, results):  # type: ignore[no-untyped-def]
        return {"mae": sum(results) / len(results)}


def write(out: Path) -> None:
    torch.manual_seed(0)
    x = torch.linspace(0, 1, 16)[:, None]
    data = torch.utils.data.TensorDataset(x, 3 * x + 1)
    loader = {
        "dataset": data,
        "batch_size": 4,
        "sampler": {"type": "DefaultSampler", "shuffle": False},
        "collate_fn": {"type": "default_collate"},
    }
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(
            model=Line(),
            work_dir=scratch,
            train_dataloader=loader,
            val_dataloader=dict(loader),
            val_evaluator=Evaluator(Error()),
            train_cfg={"by_epoch": True, "max_epochs": 3, "val_interval": 1},
            val_cfg={},
            optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.1}},
            default_hooks={"logger": {"type": "LoggerHook", "interval": 1}, "checkpoint": None},
            randomness={"seed": 0},
            env_cfg={"mp_cfg": {"mp_start_method": "fork"}},
        )
        runner.train()
        found = next(Path(scratch).rglob("scalars.json"))
        out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, out / "scalars.json")
    rows = [json.loads(line) for line in (out / "scalars.json").read_text().splitlines()]
    shown = [row["loss"] for row in rows if "loss" in row]
    assert len(shown) == len(LOSSES)
    truth = {
        "loss": [[i, loss] for i, loss in enumerate(shown, 1)],
        "mae": [[4 * n, row["mae"]] for n, row in enumerate((r for r in rows if "mae" in r), 1)],
    }
    (out / "truth.json").write_text(json.dumps({"series": truth}, indent=1))
    path = HERE / "versions.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, "mmengine": mmengine.__version__}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
