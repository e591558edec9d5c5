"""The server: tools, resources and prompts on standard input and output, or HTTP on this machine alone."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from traindx import __version__
from traindx.serve.mcp.desk import Desk
from traindx.serve.mcp.pages import add_pages, add_prompts
from traindx.serve.mcp.reading import ReadingTools
from traindx.serve.mcp.roots import Limits
from traindx.serve.mcp.running import RunningTools
from traindx.serve.mcp.searching import SearchingTools
from traindx.serve.mcp.tool import as_tool

HOST = "127.0.0.1"
PATH = "/mcp"
_INSTRUCTIONS = """\
traindx measures why a neural-network training goes wrong, tests suspicions by experiments, proves changes.
Begin with brief on a log or recording (find_runs lists them): facts with handles; show opens one. Where a log
says too little, run the script (bounded). Test what you suspect with confirm; before you call a change
better, prove it. check looks into data files and checkpoints. What takes longer than `wait` returns a job id:
ask the tool job for its answer. Facts are measured; causes are ranked with a confidence, not certain."""


def build(desk: Desk) -> MCPServer:
    """All tools over one desk."""
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    running = ToolAnnotations(read_only_hint=False, destructive_hint=desk.allow_apply, open_world_hint=False)
    readers = (*SearchingTools(desk).tools, *ReadingTools(desk).tools)
    tools: list[Tool] = [as_tool(method, reading) for method in readers]
    tools += [as_tool(method, running) for method in RunningTools(desk).tools]
    server: MCPServer = MCPServer(
        "traindx",
        title="traindx",
        instructions=_INSTRUCTIONS,
        version=__version__,
        tools=tools,
        log_level="WARNING",
    )
    add_pages(server)
    add_prompts(server)
    return server


def serve(roots: Sequence[str], *, port: int | None, allow_apply: bool) -> None:
    """Until the client leaves, or a signal comes; whatever still runs then is ended.

    Raises OSError where the port cannot be had.
    """
    limits = Limits(roots or ["."], fixed=bool(roots) or port is not None)
    desk = Desk(limits, allow_apply=allow_apply)
    server = build(desk)
    try:
        with _ended_by_signals():
            server.run("stdio") if port is None else _serve_http(server, port)
    finally:
        desk.jobs.end()


def _serve_http(server: MCPServer, port: int) -> None:
    import uvicorn

    app = server.streamable_http_app(host=HOST, streamable_http_path=PATH)
    with socket.create_server((HOST, port)) as listening:
        print(f"Serving on http://{HOST}:{listening.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
        # Open streams of clients must not keep a server alive that was told to end.
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the server as Ctrl-C does: with its jobs."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
