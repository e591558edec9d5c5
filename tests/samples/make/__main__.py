"""Write the samples anew with the real libraries.

`make samples` runs all scripts, `make samples ONLY="mlflow wandb_offline"` some. Libraries that go
together share an environment below `.venv-samples/`, in the versions that `versions.json` records.
All of them together are several GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ENVIRONMENTS = {
    "torch": ("torch", "transformers", "accelerate", "lightning", "tensorboard", "keras"),
    "ultralytics": ("torch", "ultralytics"),
    "llamafactory": ("torch", "llamafactory"),
    "mmengine": ("torch", "mmengine"),
    "keras": ("keras", "tensorflow", "pandas"),
    "loggers": ("dvclive", "mlflow-skinny", "sqlalchemy", "alembic", "trackio", "wandb", "pandas", "orjson"),
}
# Script -> the folder it writes below tests/samples, and the environment it needs.
PLAN: dict[str, tuple[str, str | None]] = {
    "detectron2": ("detectron2", None),
    "dvclive": ("dvclive", "loggers"),
    "hf_tensorboard": ("tensorboard/hf", "torch"),
    "hf_trainer": ("hf-trainer", "torch"),
    "keras_logs": ("keras", "keras"),
    "keras_tensorboard": ("tensorboard/keras", "keras"),
    "lightning_csv": ("lightning", "torch"),
    "llamafactory_log": ("llamafactory", "llamafactory"),
    "mlflow": ("mlflow", "loggers"),
    "mmengine": ("mmengine", "mmengine"),
    "tables": ("tables", "loggers"),
    "text_stdout": ("text", "torch"),
    "torch_summary_writer": ("tensorboard/torch", "torch"),
    "trackio": ("trackio", "loggers"),
    "ultralytics_results": ("ultralytics", "ultralytics"),
    "wandb_offline": ("wandb/offline", "loggers"),
}


def python_of(environment: str | None) -> str:
    """The Python of an environment, which is made when it is not there."""
    if environment is None:
        return sys.executable
    folder = ROOT / ".venv-samples" / environment
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        versions: dict[str, str] = json.loads((HERE / "versions.json").read_text(encoding="utf-8"))
        pins = {library: f"=={version.partition('+')[0]}" for library, version in versions.items()}
        (folder / "pins.txt").write_text(f"torch{pins['torch']}\n", encoding="utf-8")
        wanted = [library + pins.get(library, "") for library in ENVIRONMENTS[environment]]
        install = [str(python), "-m", "pip", "install", "--quiet", "-c", str(folder / "pins.txt")]
        subprocess.run([*install, *wanted], check=True)
        (folder / ".ready").touch()
    return str(python)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("scripts", nargs="*", help="which to run; all when none is named")
    options.add_argument("--out", type=Path, default=HERE.parent, help="write below this folder instead")
    given = options.parse_args()
    unknown = set(given.scripts) - set(PLAN)
    if unknown:
        options.error(f"no such script: {', '.join(sorted(unknown))}; known: {', '.join(PLAN)}")
    for script in given.scripts or PLAN:
        folder, environment = PLAN[script]
        print(f"{script} -> {given.out / folder}", flush=True)
        command = [python_of(environment), str(HERE / f"{script}.py"), str(given.out / folder)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
