"""Which folders a client may name: those it gives as its roots, those of `--root`, or the current one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ListRootsResult

from traindx.core import files
from traindx.report.text import visible

_LARGEST = 20_000_000


def _ask_client(ctx: Context) -> ListRootsResult | ListRoots:
    """The client's roots, where it says that it has some."""
    capabilities = ctx.client_capabilities
    has_roots = capabilities is not None and capabilities.roots is not None
    return ListRoots() if has_roots else ListRootsResult(roots=[])


# What a tool declares to be handed the roots of whoever calls it.
ClientRoots = Annotated[ListRootsResult, Resolve(_ask_client)]


class Limits:
    """The folders of the server. `fixed` are those of `--root`: a client's roots only narrow them.

    Over HTTP anybody on this machine may be the client: there the current folder is fixed, too.
    """

    def __init__(self, folders: Sequence[str], *, fixed: bool) -> None:
        self._server_roots = [Path(folder).resolve() for folder in folders]
        self._fixed = fixed

    def of(self, client: ListRootsResult) -> Roots:
        client_roots = [folder for root in client.roots if (folder := _folder(str(root.uri))) is not None]
        if not client_roots:
            return Roots(self._server_roots)
        if not self._fixed:
            return Roots(client_roots)
        inside = [
            folder
            for folder in client_roots
            if any(folder.is_relative_to(root) for root in self._server_roots)
        ]
        inside += [
            root for root in self._server_roots if any(root.is_relative_to(folder) for folder in client_roots)
        ]
        if not inside:
            folders = _listed(self._server_roots)
            raise ToolError(
                f"none of your roots is within {folders}, which this server is limited to. "
                "Start it with --root FOLDER for another."
            )
        return Roots(inside)


class Roots:
    """The folders that one client may name."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(dict.fromkeys(folders))

    def path(self, text: str, below: Path | None = None) -> Path:
        """A path that exists inside the roots, links followed; raises ToolError with one line."""
        path = self.place(text, below)
        if not path.exists():
            near = f" (in {visible(str(below or self.folders[0]), 120)})" if not os.path.isabs(text) else ""
            raise ToolError(f"{visible(text, 200)} does not exist{near}. find_runs lists what there is.")
        return path

    def place(self, text: str, below: Path | None = None) -> Path:
        """A path inside the roots, whether there is something or not."""
        if "\0" in text or not text:
            raise ToolError("a path is empty or holds a null character; give the path of a file or folder.")
        try:
            path = ((below or self.folders[0]) / os.path.expanduser(text)).resolve()
        except (OSError, RuntimeError):
            raise ToolError(f"{visible(text, 200)} cannot be followed: its links lead in a circle.") from None
        if not any(path.is_relative_to(folder) for folder in self.folders):
            raise ToolError(
                f"{visible(text, 200)} is outside of {_listed(self.folders)}. Give a path inside, or start "
                "the server with --root for that folder."
            )
        return path

    def word(self, text: str) -> str:
        """The same path for a command that runs in the first root: short where it can be."""
        path = self.path(text)
        if not path.is_relative_to(self.folders[0]):
            return str(path)
        short = str(path.relative_to(self.folders[0]))
        return f"./{short}" if short.startswith("-") else short

    def working_folder(self, text: str) -> Path:
        folder = self.path(text) if text else self.folders[0]
        if not folder.is_dir():
            raise ToolError(f"{visible(text, 200)} is no folder: give the folder to run in.")
        return folder

    def refuse_foreign(self, recording: Path) -> None:
        """A recording names a program and its folder: both must be inside, or nothing is run."""
        facts = recording / "run.json" if recording.is_dir() else None
        if facts is None or not facts.is_file() or facts.stat().st_size > _LARGEST:
            return
        try:
            facts_read = json.loads(files.read(facts))
            paths_named = [facts_read.get("folder"), (facts_read.get("script") or {}).get("path")]
        except (OSError, ValueError, AttributeError):
            return
        for path_named in paths_named:
            if isinstance(path_named, str):
                self.place(path_named)


def _folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return Path(unquote(parts.path)).resolve()


def _listed(folders: Sequence[Path]) -> str:
    listed = ", ".join(visible(str(folder), 120) for folder in folders[:3])
    return f"the allowed folder{'s' if len(folders) > 1 else ''} {listed}"
