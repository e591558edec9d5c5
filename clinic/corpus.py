"""Recordings of the clinic's trainings, kept in the repository: `python -m clinic.corpus [RUNS]` packs them.

One archive per folder of scripts. Paths of the machine that recorded them are placeholders, filled in where
the archive is unpacked.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
from pathlib import Path

from .training import RUNS
from .truth import HERE, scripts

CORPUS = HERE / "corpus"
_CLINIC, _WORK, _PACKAGES = b"@clinic@", b"@work@", b"@packages@"
_SITE_PACKAGES = re.compile(rb"/[^\"\s]*?/site-packages")
_HOST = re.compile(rb'("(?:host|platform)": ")[^"]*')


def pack(runs: Path, corpus: Path = CORPUS) -> list[Path]:
    """Write the archives anew from the recordings that are there."""
    corpus.mkdir(exist_ok=True)
    groups: dict[str, list[str]] = {}
    for script in scripts():
        if (runs / script.name / "recording" / "run.json").exists():
            groups.setdefault(script.path.relative_to(HERE).parts[0], []).append(script.name)
    written = []
    for group, names in groups.items():
        target = corpus / f"{group}.tar.xz"
        with tarfile.open(target, "w:xz", preset=9) as archive:
            for name in sorted(names):
                for path in sorted((runs / name / "recording").iterdir()):
                    if path.suffix in (".json", ".jsonl"):
                        _add(archive, f"{name}/{path.name}", _without_machine(path.read_bytes(), runs, name))
        written.append(target)
    return written


def _without_machine(content: bytes, runs: Path, name: str) -> bytes:
    content = content.replace(str((runs / name / "work").resolve()).encode(), _WORK)
    content = content.replace(_recorded_in(content), _CLINIC)
    content = _SITE_PACKAGES.sub(_PACKAGES, content)
    return _HOST.sub(rb"\1", content)


def _recorded_in(content: bytes) -> bytes:
    """The clinic's folder on the machine that made a recording."""
    found = re.search(rb'"path": "([^"]*/clinic)/', content)
    return found[1] if found else str(HERE).encode()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def unpack(target: Path, names: set[str] | None = None, corpus: Path = CORPUS) -> list[str]:
    """The recordings (of these scripts only) as folders below `target`; the names of those there are."""
    found = set()
    for path in sorted(corpus.glob("*.tar.xz")):
        with tarfile.open(path) as archive:
            for entry in archive:
                name, _, file = entry.name.rpartition("/")
                content = archive.extractfile(entry)
                if content is None or (names is not None and name not in names):
                    continue
                folder = target / name
                folder.mkdir(parents=True, exist_ok=True)
                text = content.read().replace(_CLINIC, str(HERE).encode())
                (folder / file).write_bytes(text.replace(_WORK, str(folder).encode()))
                found.add(name)
    return sorted(found)


if __name__ == "__main__":
    for written in pack(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS):
        print(f"{written.relative_to(HERE)}  {written.stat().st_size / 1e6:.2f} MB")
