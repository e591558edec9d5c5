"""Skills for assistants, in the open SKILL.md form: a folder each, with references to read when needed.

`commands/` holds what assistants that have slash commands offer under those names.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The skills there are, by their folders."""
    return sorted(path.parent.name for path in FOLDER.glob("*/SKILL.md"))


def files(name: str) -> dict[str, str]:
    """The texts of a skill by their path in its folder, the main file first."""
    folder = FOLDER / name
    paths = sorted(folder.rglob("*.md"), key=lambda path: (path.name != "SKILL.md", path))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def commands() -> dict[str, str]:
    """The slash commands: name -> Markdown with a head."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("commands/*.md"))}


def description(name: str) -> str:
    """What a skill is for, from its head."""
    return str(head(files(name)["SKILL.md"])["description"]).strip()


def head(text: str) -> dict[str, object]:
    """The YAML between the two lines of dashes."""
    import yaml

    return dict(yaml.safe_load(text.split("---\n")[1]))


def body(text: str) -> str:
    return text.split("---\n", 2)[2].lstrip("\n")
