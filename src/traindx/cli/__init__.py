"""The command line: one command per file, loaded when it is called.

A command is a module here that holds a click command as `command`; `lr_find.py` is `traindx lr-find`.
Modules import what is heavy inside their functions, so that `traindx --help` stays quick.
"""

from __future__ import annotations

import contextlib
import importlib
import keyword
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from traindx import __version__

# How `traindx --help` groups the commands; one in no group comes last.
GROUPS = {
    "Logs and recordings": ("diagnose", "inspect", "compare", "explain", "list"),
    "A training as it runs": ("run", "demo"),
    "Before a training, or without one": ("lint", "preflight", "lr-find", "check", "ask", "doctor"),
    "Experiments": ("confirm", "treat", "try", "prove", "casebook"),
    "Assistants and shells": ("brief", "show", "skill", "mcp", "ci", "completion"),
}


class Failure(click.ClickException):
    """Could not do it; the message says what happened, what was expected and what to do."""

    exit_code = 2


def say(text: str) -> None:
    """One line on standard error; whatever a log or a name holds, it cannot steer the terminal."""
    from traindx.report.text import visible

    click.echo(visible(text), err=True)


def note(text: str) -> None:
    """One line that a person can do without: `--quiet` leaves it out."""
    if not quiet():
        say(text)


def quiet() -> bool:
    """Whether only the result is asked for."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.params.get("quiet") or ctx.meta.get("traindx.quiet"))


@contextlib.contextmanager
def _escaped_errors() -> Iterator[None]:
    """Every message of an error becomes one line that cannot steer the terminal either."""
    try:
        yield
    except click.ClickException as error:
        from traindx.report.text import visible

        line = visible(error.format_message())
        error.format_message = lambda: line  # type: ignore[method-assign]
        raise


class Commands(click.Group):
    """The files of this folder as commands, and one way out for everything that can go wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        names = (info.name for info in pkgutil.iter_modules(__path__))
        return sorted(name.rstrip("_").replace("_", "-") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        # A file is not called as a word of Python or a module of its library: `try_.py` is `traindx try`.
        file = cmd_name.replace("-", "_")
        is_taken = keyword.iskeyword(file) or file in sys.stdlib_module_names
        module = importlib.import_module(f"{__name__}.{file}{'_' * is_taken}")
        from traindx.cli._common import completed

        command: click.Command = module.command
        return completed(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        grouped = [name for group in GROUPS.values() for name in group]
        rest = {"Others": tuple(name for name in names if name not in grouped)}
        for title, group in (GROUPS | rest).items():
            commands = [(name, self.get_command(ctx, name)) for name in group if name in names]
            rows = [
                (name, command.get_short_help_str(100)) for name, command in commands if command is not None
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _escaped_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _escaped_errors():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            if sys.stdout is None and sys.argv[1:2] != ["run"]:
                raise Failure("standard output is closed: there is nowhere to show the result.")
            result = super().invoke(ctx)
            _flush()
            return result
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            _silence_stdout()
            ctx.exit(141)
        except (KeyboardInterrupt, click.Abort):
            ctx.exit(130)
        except MemoryError:
            raise Failure(
                "there is not enough memory for this. Give a smaller log, or fewer at once, or more memory."
            ) from None
        except Exception as error:
            if os.environ.get("TRAINDX_DEBUG"):
                raise
            raise Failure(
                f"traindx itself failed ({type(error).__name__}: {error}). "
                "This is a bug: please report it with the traceback that TRAINDX_DEBUG=1 shows."
            ) from None


def _flush() -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_print(error) from None


def cannot_print(error: OSError) -> Failure:
    """The terminal, pipe or file behind standard output refuses: a full disk, say."""
    _silence_stdout()
    why = (error.strerror or type(error).__name__).lower()
    return Failure(f"the result could not be printed: {why}. Free some space, or send it elsewhere.")


def _silence_stdout() -> None:
    """The reader of the pipe is gone: nothing more may be written, not even at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="traindx")
def cli() -> None:
    """Find out why a neural-network training goes wrong."""


def main() -> None:
    """The entry point of the command `traindx`."""
    afterwards: list[Callable[[], None]] = []
    try:
        cli(prog_name="traindx", obj=afterwards)
    except SystemExit as end:
        if end.code or not afterwards:
            raise
    # A program of the user's runs out here: what it raises is not ours to catch.
    afterwards.pop()()
