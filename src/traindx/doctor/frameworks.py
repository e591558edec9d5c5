"""The builds of PyTorch, JAX and Keras, and the devices they see."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from traindx.doctor.line import DoctorLine, Surroundings, size

SUBJECT = "frameworks"
_PROBE = Path(__file__).parent / "probe.py"
_BACKENDS = {"tensorflow": "tensorflow", "torch": "torch", "jax": "jax", "openvino": "openvino"}


def probe(name: str, place: Surroundings) -> dict[str, Any] | None:
    """What a framework says of itself, from a process of its own; None where it is not installed."""
    if importlib.util.find_spec(name) is None:
        return None
    command = [sys.executable, str(_PROBE), name]
    try:
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=place.seconds,
            env=dict(place.environ),
            cwd=_PROBE.parent,
            check=False,
        )
        facts = json.loads(process.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"late": place.seconds}
    except (IndexError, ValueError):
        return {
            "error": process.stderr.strip().splitlines()[-1]
            if process.stderr.strip()
            else f"exit {process.returncode}"
        }
    return dict(facts)


def lines(
    place: Surroundings, torch: Mapping[str, Any] | None, jax: Mapping[str, Any] | None
) -> Iterator[DoctorLine]:
    gpus = _nvidia(place)
    if torch is not None:
        yield from _torch(torch, gpus)
    if jax is not None:
        yield _jax(jax, gpus)
    yield from _tensorflow(gpus)
    keras = _keras(place)
    if keras is not None:
        yield keras


def _nvidia(place: Surroundings) -> list[str]:
    """The names of the NVIDIA GPUs that the driver knows."""
    program = shutil.which("nvidia-smi", path=place.environ.get("PATH"))
    if program is None:
        return []
    try:
        process = subprocess.run(
            [program, "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=min(3.0, place.seconds),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return (
        [line.strip() for line in process.stdout.splitlines() if line.strip()]
        if process.returncode == 0
        else []
    )


def _unmeasured(name: str, facts: Mapping[str, Any]) -> DoctorLine | None:
    if "late" in facts:
        fact = f"{name} was not imported within {facts['late']:g} s."
        return DoctorLine(
            name.lower(), SUBJECT, "not_checked", fact, "traindx doctor --timeout 60 waits for it."
        )
    if "error" in facts:
        fact = f"{name} is installed and cannot be imported: {str(facts['error'])[:200].rstrip('.')}."
        return DoctorLine(
            name.lower(), SUBJECT, "problem", fact, "Install it again, in the versions its site names."
        )
    return None


def _torch(facts: Mapping[str, Any], gpus: list[str]) -> Iterator[DoctorLine]:
    failed = _unmeasured("PyTorch", facts)
    if failed is not None:
        yield failed
        return
    build = (
        f"CUDA {facts['cuda']}" if facts["cuda"] else f"ROCm {facts['hip']}" if facts["hip"] else "CPU only"
    )
    fact = (
        f"PyTorch {facts['version']} ({build}, {facts['capability']}), imported in {facts['seconds']:.1f} s."
    )
    yield DoctorLine("pytorch", SUBJECT, "ok", fact, numbers={"import_seconds": facts["seconds"]})
    if facts["numpy"]:
        fact = f"PyTorch cannot exchange arrays with numpy: {facts['numpy'][:120].rstrip('.')}."
        yield DoctorLine(
            "torch_numpy", SUBJECT, "problem", fact, "pip install 'numpy<2', or a PyTorch of 2.3 or later."
        )
    if facts["capability"] in ("DEFAULT", "NO AVX"):
        fact = "PyTorch uses no vector instructions of this processor."
        yield DoctorLine(
            "torch_vectors", SUBJECT, "note", fact, "Several times slower: unset ATEN_CPU_CAPABILITY."
        )
    if len(facts["openmp"]) > 1:
        fact = f"Several OpenMP libraries are loaded together: {', '.join(facts['openmp'])}."
        yield DoctorLine(
            "openmp", SUBJECT, "note", fact, "They may start threads twice: install from one source."
        )
    yield from _torch_device(facts, gpus)


def _torch_device(facts: Mapping[str, Any], gpus: list[str]) -> Iterator[DoctorLine]:
    for device in facts.get("devices", ()):
        fact = f"GPU: {device['name']}, {size(device['free'])} of {size(device['total'])} free."
        if not device["fits"]:
            advice = "This PyTorch holds no code for it: install a build for this GPU (pytorch.org)."
            yield DoctorLine("device", SUBJECT, "problem", fact, advice)
        elif device["free"] < 0.5 * device["total"]:
            yield DoctorLine(
                "device", SUBJECT, "note", fact, "Other processes use it: nvidia-smi names them."
            )
        else:
            yield DoctorLine("device", SUBJECT, "ok", fact)
    if facts.get("devices"):
        return
    if gpus and not facts["cuda_available"]:
        why = "its build is for the CPU only" if not facts["cuda"] else "CUDA does not start"
        fact = f"There is {gpus[0]}, and PyTorch does not use it: {why}."
        advice = (
            "Install the build for CUDA (pytorch.org)." if not facts["cuda"] else "The driver may be too old."
        )
        yield DoctorLine("device", SUBJECT, "problem", fact, f"{advice} It would train on the CPU.")
    else:
        fact = (
            "PyTorch trains on the Apple GPU (mps)." if facts["mps"] else "No GPU: PyTorch trains on the CPU."
        )
        yield DoctorLine("device", SUBJECT, "ok", fact)


def _jax(facts: Mapping[str, Any], gpus: list[str]) -> DoctorLine:
    failed = _unmeasured("JAX", facts)
    if failed is not None:
        return failed
    fact = f"JAX {facts['version']} computes on {facts['count']} {facts['platform']} device(s)."
    if gpus and facts["platform"] == "cpu":
        advice = "pip install 'jax[cuda12]': it would train on the CPU."
        return DoctorLine("jax", SUBJECT, "problem", f"{fact} There is {gpus[0]}.", advice)
    return DoctorLine("jax", SUBJECT, "ok", fact)


def _tensorflow(gpus: list[str]) -> Iterator[DoctorLine]:
    """Not imported: that alone takes longer than everything else here."""
    for name in ("tensorflow", "tensorflow-cpu"):
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        fact = f"{name} {version} is installed."
        if gpus and name == "tensorflow-cpu":
            advice = "pip install 'tensorflow[and-cuda]': this build trains on the CPU."
            yield DoctorLine("tensorflow", SUBJECT, "problem", f"{fact} There is {gpus[0]}.", advice)
        else:
            yield DoctorLine("tensorflow", SUBJECT, "ok", fact)


def _keras(place: Surroundings) -> DoctorLine | None:
    """Which backend Keras would take, by its variable and its settings file."""
    try:
        version = metadata.version("keras")
    except metadata.PackageNotFoundError:
        return None
    source, backend = "KERAS_BACKEND", place.environ.get("KERAS_BACKEND", "")
    if not backend:
        home = place.environ.get("KERAS_HOME") or os.path.expanduser("~/.keras")
        source = os.path.join(home, "keras.json")
        try:
            with open(source, encoding="utf-8") as file:
                backend = str(json.load(file).get("backend", ""))
        except (OSError, ValueError, AttributeError):
            source, backend = "its default", "tensorflow"
    fact = f"Keras {version} computes with {backend} ({source})."
    module = _BACKENDS.get(backend)
    if module is None or importlib.util.find_spec(module) is None:
        advice = (
            f"{backend} is not installed: pip install it, or export KERAS_BACKEND=torch (or jax, tensorflow)."
        )
        return DoctorLine("keras", SUBJECT, "problem", fact, advice)
    return DoctorLine("keras", SUBJECT, "ok", fact)
