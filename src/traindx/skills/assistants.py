"""Where each assistant reads skills and slash commands, in a project and for a user."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from traindx.skills import body, head


@dataclass(frozen=True)
class Assistant:
    """Folders below the project and below the home of a user; empty where there is none for commands.

    `call` is how a person calls a skill by its name.
    """

    title: str
    skills: tuple[str, str]
    commands: tuple[str, str] = ("", "")
    file: Callable[[str, str], tuple[str, str]] = lambda name, text: (f"{name}.md", text)
    call: str = "/{name}"


def _toml(name: str, text: str) -> tuple[str, str]:
    """Gemini's form: a prompt in which {{args}} stands for what is typed behind the name."""
    prompt = body(text).replace("$ARGUMENTS", "{{args}}").rstrip()
    document = f"description = {json.dumps(str(head(text)['description']))}\nprompt = '''\n{prompt}\n'''\n"
    return f"{name}.toml", document


def _plain(name: str, text: str) -> tuple[str, str]:
    """Without a head: what is typed behind the name is appended to the prompt."""
    return f"{name}.md", body(text).replace(": $ARGUMENTS", ", by what is written with this command.")


def _prompt(name: str, text: str) -> tuple[str, str]:
    command_text = body(text).replace("$ARGUMENTS", "${input:what:script, log or complaint}")
    return (
        f"{name}.prompt.md",
        f"---\ndescription: {json.dumps(str(head(text)['description']))}\n---\n\n{command_text}",
    )


# Sources: code.claude.com/docs, developers.openai.com/codex/skills, cursor.com/docs/context/skills,
# geminicli.com/docs/cli/skills, docs.github.com/copilot (agent skills), opencode.ai/docs/skills.
ASSISTANTS: Mapping[str, Assistant] = MappingProxyType(
    {
        "agents": Assistant("the shared folder .agents", (".agents/skills", ".agents/skills"), call="{name}"),
        "claude": Assistant(
            "Claude Code", (".claude/skills", ".claude/skills"), (".claude/commands", ".claude/commands")
        ),
        "codex": Assistant("Codex", (".agents/skills", ".agents/skills"), call="${name}"),
        "copilot": Assistant(
            "GitHub Copilot", (".github/skills", ".copilot/skills"), (".github/prompts", ""), _prompt
        ),
        "cursor": Assistant(
            "Cursor", (".cursor/skills", ".cursor/skills"), (".cursor/commands", ".cursor/commands"), _plain
        ),
        "gemini": Assistant(
            "Gemini CLI",
            (".gemini/skills", ".gemini/skills"),
            (".gemini/commands", ".gemini/commands"),
            _toml,
        ),
        "opencode": Assistant(
            "opencode",
            (".opencode/skills", ".config/opencode/skills"),
            (".opencode/commands", ".config/opencode/commands"),
        ),
    }
)
