"""`traindx completion`: the lines by which a shell completes commands, options, ids and files."""

from __future__ import annotations

import click

from traindx.cli import Failure
from traindx.cli._common import COMPLETE_VARIABLE
from traindx.cli._output import print_lines

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print what makes a shell complete commands, options and ids.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the lines by which a shell completes commands, options, ids of pages and files.

    \b
    bash   echo 'eval "$(traindx completion bash)"' >> ~/.bashrc
    zsh    echo 'eval "$(traindx completion zsh)"' >> ~/.zshrc
    fish   traindx completion fish > ~/.config/fish/completions/traindx.fish

    Then open a new shell. bash must be 4.4 or newer.
    """
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise Failure(f"click knows no completion for {shell}.")
    root = ctx.find_root()
    print_lines(completion_class(root.command, {}, "traindx", COMPLETE_VARIABLE).source().strip() + "\n")
