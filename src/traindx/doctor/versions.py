"""Packages that do not fit each other, and versions that are known to train wrongly or slowly."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from traindx.doctor.line import DoctorLine, State, Surroundings

SUBJECT = "versions"
_PACKAGES = (
    *("torch", "torchvision", "torchaudio", "lightning", "pytorch-lightning", "torchmetrics", "timm"),
    *("transformers", "accelerate", "datasets", "peft", "trl", "bitsandbytes", "deepspeed", "xformers"),
    *("keras", "tf-keras", "tensorflow", "tensorflow-cpu", "jax", "jaxlib", "flax", "optax", "equinox"),
    *("numpy", "scipy", "scikit-learn", "tensorboard", "wandb", "triton"),
)
# Compiled against each other: the wrong version crashes or does not load.
_COUPLED = ("torch", "jaxlib", "tensorflow", "tensorflow-cpu", "triton")
# Package, versions, what happens, where it is documented.
_KNOWN = (
    (
        "transformers",
        "<4.46",
        "the Trainer weighs batches wrongly when gradients are accumulated; use 4.48 or later",
        "https://github.com/huggingface/transformers/pull/34191",
    ),
    (
        "transformers",
        ">=4.46,<4.48",
        "the Trainer may count the loss several times when gradients are accumulated; use 4.48 or later",
        "https://github.com/huggingface/transformers/pull/35438",
    ),
    (
        "torch",
        "==2.9.*",
        "3-D convolutions in bfloat16 on CUDA need several times the memory; use 2.10, or cuDNN 9.15",
        "https://github.com/pytorch/pytorch/issues/166643",
    ),
)


def lines(place: Surroundings) -> Iterator[DoctorLine]:
    del place
    installed = _installed()
    wrong = [*_mismatches(installed), *_known_faults(installed)]
    if wrong:
        yield from wrong
        return
    names = [
        f"{name} {version}"
        for name, version in installed.items()
        if name in ("torch", "keras", "jax", "numpy")
    ]
    names += [f"{name} {version}" for name, version in installed.items() if name.startswith("tensorflow")]
    fact = (
        f"{', '.join(names) or 'No training library is installed'}: {len(installed)} packages fit each other."
    )
    yield DoctorLine("versions", SUBJECT, "ok", fact)


def _installed() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _mismatches(installed: dict[str, str]) -> Iterator[DoctorLine]:
    """What a package asks for and is there in another version, as `pip check` finds it."""
    from packaging.requirements import InvalidRequirement, Requirement

    for name in installed:
        for text in metadata.requires(name) or ():
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            version = installed.get(requirement.name)
            if version is None or (
                requirement.marker is not None and not requirement.marker.evaluate({"extra": ""})
            ):
                continue
            if not requirement.specifier.contains(version, prereleases=True):
                needed = f"{requirement.name}{requirement.specifier}"
                fact = f"{name} {installed[name]} needs {needed}; installed is {version}."
                advice = f"pip install '{needed}'"
                state: State = "problem" if requirement.name in _COUPLED else "note"
                yield DoctorLine(f"mismatch_{name}", SUBJECT, state, fact, advice)


def _known_faults(installed: dict[str, str]) -> Iterator[DoctorLine]:
    from packaging.specifiers import SpecifierSet

    for name, versions, fault, source in _KNOWN:
        version = installed.get(name)
        if version is None or version.endswith("+cpu"):
            continue
        if SpecifierSet(versions).contains(version, prereleases=True):
            yield DoctorLine(f"known_{name}", SUBJECT, "note", f"{name} {version}: {fault}.", f"See {source}")
