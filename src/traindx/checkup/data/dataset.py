"""A data set as `traindx check` takes it: files and folders together, or what a function of a script
yields.
"""

from __future__ import annotations

import os
from typing import Any

from traindx.checkup.data.files import TABLES
from traindx.checkup.data.images import has_images
from traindx.checkup.data.measuring import profile
from traindx.checkup.target import CheckRequest, checked
from traindx.core.nouns import Note, Run, Unreadable

DOCUMENTS = (".json", ".yaml", ".yml")


def is_data(path: str) -> bool:
    """A table, an array, a folder of either or of images; statistics and vocabularies go with them."""
    if os.path.isdir(path):
        return has_images(path) or any(name.lower().endswith(TABLES) for name in os.listdir(path))
    return path.lower().endswith((*TABLES, *DOCUMENTS))


def run(request: CheckRequest) -> Run:
    """What was measured of the files, as a run without curves; raises Unreadable with one line."""
    facts = profile(list(request.targets), target=request.target_column, guess=True)
    return data_run(request, facts)


def data_run(request: CheckRequest, facts: dict[str, Any]) -> Run:
    """The facts of a data set as a run."""
    files = facts["data_files"]
    bad = [file for file in files if "why" in file]
    if len(bad) == len(files):
        raise Unreadable(f"{bad[0]['path']}: {bad[0]['why']}")
    notes = [Note(file["path"], file["why"]) for file in bad]
    notes += [
        Note(file["path"], f"{file['read_rows']:,} of its {file['rows']:,} rows were read")
        for file in files
        if file.get("read_rows", 0) < file.get("rows", 0)
    ]
    rows = sum(file.get("rows", 0) for file in files)
    without = facts["data_without_target"]
    advice = (
        f"The labels of {', '.join(without[:3])} were not checked: no column is called like a "
        "target. Name it by "
        "--target."
        if without
        else "A training that reads it shows more: traindx run train.py."
    )
    chosen = ", ".join(
        dict.fromkeys(
            f"{table['table']}: target {table['target']}" for table in facts["data_tables"] if table["target"]
        )
    )
    names = ", ".join(file["name"] for file in files[:3])
    tables = len(facts["data_tables"])
    return checked(
        request,
        "data",
        facts,
        areas=("files",),
        subject=names,
        summary=f"{rows:,} rows in {tables} table{'s' if tables != 1 else ''}",
        more=advice,
        chosen=f"{chosen} (--target names another)" if chosen else "",
        notes=notes,
        files=[file["path"] for file in files],
    )
