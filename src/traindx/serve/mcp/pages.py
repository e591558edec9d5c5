"""What is known, as resources; how to go about it, as prompts."""

from __future__ import annotations

from functools import partial

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError

from traindx.report.text import visible

_KINDS = ("causes", "symptoms", "remedies", "sheets")
_DEBUG = """\
1. brief it. Read the facts before you suspect anything; show opens a line by its handle.
2. Read the script. Where the log is not enough, run the script (bounded) and brief the recording; check the
   data files that it reads.
3. Name the causes you suspect and confirm them: an experiment answers, not an opinion.
4. Write the smallest fix of the confirmed cause, and prove it against the script as it is.
5. Report the symptom, the cause with its evidence (handles, numbers), the fix, and what prove measured.
Do not change several things at once, and call nothing fixed before prove says better."""
_REVIEW = """\
1. lint both versions.
2. prove the change (with_scripts, patches, base, git, settings or other_args); first with effort quick.
3. Read what prove compared: loss, data, length. What only looks better is answered with 'cannot tell'.
4. Report the answer, the pairs, the interval, side effects, and what could not be compared."""
_BEFORE = """\
1. lint it.
2. check its data files, training and validation together.
3. preflight it.
4. lr_find, if the learning rate is new.
5. run it for some hundred steps and brief the recording: time per step, memory, simple models.
6. Say what was found, what was not measured, and whether to start."""


def page_of(id: str) -> str:
    """The pages of an id as Markdown; raises ToolError that names the nearest."""
    from traindx.knowledge.catalogue import nearest, pages_of
    from traindx.report import change_pages, check_pages
    from traindx.report.pages import markdown

    spelled = id.strip().partition(".")[0].lower().replace("-", "_").replace(" ", "_")
    pages = [markdown(page) for page in pages_of(spelled)]
    other_pages = (change_pages.page_of(spelled), check_pages.page_of(spelled))
    pages += [page for page in other_pages if page is not None]
    if not pages:
        near = ", ".join(nearest(spelled))
        hint = f" Did you mean {near}?" if near else ""
        raise ToolError(f"nothing is called {visible(id, 60)!r}.{hint} traindx://causes lists the causes.")
    return "\n".join(pages)


def _listing(kind: str) -> str:
    from traindx.knowledge import catalogue

    entries = getattr(catalogue, kind)()
    return "\n".join(f"- `{id}`: {entry.title}" for id, entry in sorted(entries.items()))


def add_pages(server: MCPServer) -> None:
    """`traindx://causes` lists them, `traindx://page/lr_too_high` is one."""
    for kind in _KINDS:
        listed = server.resource(
            f"traindx://{kind}", name=kind, description=f"All {kind} by id.", mime_type="text/markdown"
        )
        listed(partial(_listing, kind))

    @server.resource("traindx://page/{id}", name="page", mime_type="text/markdown")
    def page(id: str) -> str:
        """The page of a cause, symptom, remedy, finding or sheet."""
        try:
            return page_of(id)
        except ToolError as error:
            raise ResourceNotFoundError(str(error)) from None


def add_prompts(server: MCPServer) -> None:
    """The workflows, for whoever starts one by name."""

    @server.prompt(title="Find out why a training goes wrong, and prove the fix")
    def debug_training(complaint: str, path: str = "") -> str:
        """From a complaint to a proven fix."""
        where = f"The log or recording: {path}." if path else "find_runs lists the logs there are."
        return f"A training goes wrong: {complaint}\n{where}\n{_DEBUG}"

    @server.prompt(title="Is this change of a training an improvement?")
    def review_change(script: str, change: str) -> str:
        """Review a change by paired runs."""
        return f"Is this change better for {script}? {change}\n{_REVIEW}"

    @server.prompt(title="Before a long training is started")
    def before_long_run(script: str) -> str:
        """What to check before hours are spent."""
        return f"{script} will train for hours. First:\n{_BEFORE}"
