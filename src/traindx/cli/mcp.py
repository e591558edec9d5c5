"""`traindx mcp`: the commands as tools of an assistant, over the Model Context Protocol."""

from __future__ import annotations

import importlib.util
import os

import click

from traindx.cli import Failure
from traindx.report.text import visible

_PORT = 8765


@click.command(short_help="Serve these commands as tools to an assistant (MCP).")
@click.option(
    "--http",
    "port",
    is_flag=False,
    flag_value=_PORT,
    type=click.IntRange(0, 65535),
    metavar="[PORT]",
    help=f"Serve HTTP on 127.0.0.1 instead of standard input and output; default port {_PORT}, 0 a free one.",
)
@click.option(
    "--root",
    "roots",
    metavar="FOLDER",
    multiple=True,
    help="Paths must be in this folder, whatever roots the client gives. Repeatable.",
)
@click.option("--allow-apply", is_flag=True, help="Let the tool treat write a proven change into your files.")
def command(port: int | None, roots: tuple[str, ...], allow_apply: bool) -> None:
    """Serve traindx to an assistant over the Model Context Protocol.

    Tools: find_runs, brief, show, diagnose, compare,
    lint, check, ask, explain, run, preflight, lr_find, confirm, prove, treat, and job for what takes long.

    Without options on standard input and output, as clients start it: give them the command 'traindx mcp'.
    Paths are limited to the roots that the client gives, to --root, or to the current folder.

    Exit code: 0 when the client has left, 2 when it could not be started.
    """
    if importlib.util.find_spec("mcp") is None:
        raise Failure("the package mcp is missing: pip install 'traindx[mcp]'.")
    for root in roots:
        if not os.path.isdir(root):
            raise Failure(f"--root {visible(root, 200)} is no folder. Give one that exists.")
    from traindx.serve.mcp.server import serve

    try:
        serve(roots, port=port, allow_apply=allow_apply)
    except OSError as error:
        if port is None:
            raise
        why = (error.strerror or type(error).__name__).lower()
        raise Failure(f"port {port} of 127.0.0.1 cannot be had: {why}. Give --http another.") from None
