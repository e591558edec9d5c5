"""The gallery of docs/: its page is made of the examples' READMEs, its pictures by running them.

`make docs` writes both; a test compares the page.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from examples.run import NAMES, commands, readme, run

IMAGES = "docs/images/gallery"
# Examples whose picture the tool draws itself, and where; of the others it is what the last command prints.
DRAWN = {
    "overfitting": "plots/history.csv-loss.png",
    "slow_loader": "plots/time.png",
    "treat": "treatment/training_comparison.png",
}
_WIDTH, _COLORS, _LINES = 1100, 64, 40
_COLOR = r"(?:\x1b\[[\d;]*m)*"


def page(made: str) -> str:
    """The READMEs one after the other, with links as seen from docs/."""
    intro = (
        "Eight short trainings and logs with something wrong in them, and what traindx says about each. "
        "All pictures are made by running the examples; a test runs each and checks what is said. "
        "The files are in `examples/` of a clone: `python examples/run.py first_nan` runs one.\n"
    )
    parts = ["# Gallery\n", made, intro]
    for name in NAMES:
        text = readme(name).replace("../../docs/", "").strip()
        parts.append(f"\n#{text}\n\nFiles: `examples/{name}/`.")
    return "\n".join(parts) + "\n"


def write_pictures(folder: Path) -> None:
    """One picture for each example, by really running it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for name in NAMES:
            shown = run(name, Path(place), color=True)
            if name in DRAWN:
                shrink(Path(place) / name / DRAWN[name], folder / f"{name}.png")
            else:
                text = shown.replace(f"{place}/{name}/", "")
                terminal(commands(name)[-1], _answer(text), folder / f"{name}.svg")


def terminal(command: str, text: str, path: Path) -> None:
    """What a command printed, as an SVG."""
    from rich.console import Console
    from rich.text import Text

    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=102, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(f"$ {command}\n"))
        console.print(Text.from_ansi(text))  # ends with an empty line: the last one of an SVG is clipped
    title = " ".join(command.split()[:2])
    console.save_svg(str(path), title=title, unique_id=path.stem)


def shrink(drawn: Path, path: Path) -> None:
    """A PNG with few colours, no wider than a page."""
    from PIL import Image

    with Image.open(drawn) as picture:
        small = picture.convert("RGB")
        small.thumbnail((_WIDTH, 10 * _WIDTH), Image.Resampling.LANCZOS)
        small.quantize(_COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


def _answer(text: str) -> str:
    """The answer itself, without what the script printed before it and the remarks at its end."""
    parts = re.split(rf"^(?={_COLOR}(?:PROBLEM|HEALTHY|COMPARED|Besides))", text, flags=re.MULTILINE)
    lines = parts[min(1, len(parts) - 1)].rstrip().splitlines()
    more = [] if len(lines) <= _LINES else ["  ..."]
    return "\n".join([*lines[:_LINES], *more]) + "\n"
