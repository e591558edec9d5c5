"""Pages of knowledge as whole Markdown texts, with what other pages say about them added.

The command line and the documentation show the same text; only links and heading levels differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from traindx.knowledge.catalogue import causes, causes_of, remedies, sheets, symptoms
from traindx.knowledge.pages import Page, bullets, first_paragraph, words
from traindx.report.to_markdown import table

# (kind, id) -> how another page is named in the text.
Link = Callable[[str, str], str]


def named(kind: str, id: str) -> str:
    """The plain way to name another page: its id, set as code."""
    del kind
    return f"`{id}`"


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def markdown(page: Page, *, link: Link = named, level: int = 1) -> str:
    """The whole page, its heading of the given level."""
    sections = dict(page.sections)
    if page.kind == "remedy":
        sections["Do"] = _PLACEHOLDER.sub(r"<\1>", sections["Do"])
    add = {"cause": _cause, "symptom": _symptom, "remedy": _remedy, "detector": _detector, "sheet": _sheet}
    intro = add[page.kind](page, sections, link)
    mark = "#" * level
    parts = [f"{mark} {page.title}", *intro]
    parts += [f"{mark}# {heading}\n\n{text}" for heading, text in sections.items()]
    return "\n\n".join(parts) + "\n"


def _cause(page: Page, sections: dict[str, str], link: Link) -> list[str]:
    symptom_links = [f"{link('symptom', id)} ({word})" for id, word in causes()[page.id].symptoms.items()]
    chosen = [(link("remedy", id), remedies()[id].title) for id in causes()[page.id].remedies]
    _put_after(sections, "Fix", "Remedies", _list(chosen))
    sections["Evidence"] = _linked_findings(sections["Evidence"], link)
    _see_also(page, sections, link)
    return [
        f"`{page.id}`, a cause ({page.head['category']}). {page.head['meaning']}",
        f"Can be the root of: {', '.join(symptom_links)}.",
    ]


def _linked_findings(text: str, link: Link) -> str:
    """The evidence table with its findings named by links."""
    lines = []
    for line in text.split("\n"):
        finding = line.strip().strip("|").partition("|")[0].strip()
        row = line.startswith("|") and finding.isidentifier() and finding != "finding"
        lines.append(line.replace(finding, link("detector", finding), 1) if row else line)
    return "\n".join(lines)


def _symptom(page: Page, sections: dict[str, str], link: Link) -> list[str]:
    rows = [
        [link("cause", cause.id), cause.symptoms[page.id], cause.meaning.replace("|", r"\|")]
        for cause in causes_of(page.id)
    ]
    if rows:
        text = "\n".join(table(["cause", "how often", "what it is"], rows))
        _put_before(sections, "Do not", "Causes", text)
    _see_also(page, sections, link)
    return [f"`{page.id}`, a symptom. {page.head['meaning']}"]


def _remedy(page: Page, sections: dict[str, str], link: Link) -> list[str]:
    sections["Do"] = _do(sections["Do"])
    against = [(link("cause", c.id), c.title) for c in causes().values() if page.id in c.remedies]
    if against:
        sections["Helps against"] = _list(against)
    knobs = words(page.head.get("knobs", ""))
    turned = f" Changes {', '.join(knobs)}." if knobs else ""
    return [f"`{page.id}`, a remedy. Risk: {page.head['risk']}.{turned}"]


def _do(text: str) -> str:
    """First the lines that apply to any run, then those that need a run's own numbers."""
    *special, general = bullets(text)
    lines = text.split("\n")
    blank = lines.index("") if "" in lines else len(lines)
    steps = "\n".join(lines[blank:]).strip()
    parts = [general, steps] if steps else [general]
    if special:
        listed = "\n".join(f"- {line}" for line in special)
        parts.append(f"With a run's own numbers, as far as they are known:\n\n{listed}")
    return "\n\n".join(parts)


def _detector(page: Page, sections: dict[str, str], link: Link) -> list[str]:
    weighed = [(c, c.evidence[page.id]) for c in causes().values() if page.id in c.evidence]
    weighed.sort(key=lambda pair: (-pair[1].seen, pair[0].id))
    if weighed:
        rows = [
            [link("cause", cause.id), _bits(w.seen), _bits(w.unseen), w.why.replace("|", r"\|")]
            for cause, w in weighed
        ]
        text = "Bits for a cause when found, and when checked and not found; negative is evidence against it."
        sections["What it speaks for"] = "\n".join(
            [text, "", *table(["cause", "seen", "not seen", "why"], rows)]
        )
    if "Thresholds" in sections:
        sections["Thresholds"] += "\n\n" + override_hint(page.id)
    needs = f" Needs {page.head['needs'].replace('|', ' or ')}." if page.head["needs"] else ""
    return [f"`{page.id}`, a detector ({page.head['area']}).{needs}"]


def override_hint(detector: str) -> str:
    """How a threshold is changed."""
    return (
        f"Change one with `--set {detector}.NAME=VALUE`, or for good with a table "
        f"`[tool.traindx.thresholds.{detector}]` in pyproject.toml."
    )


def _sheet(page: Page, sections: dict[str, str], link: Link) -> list[str]:
    del sections, link
    return [page.head["meaning"]]


def _see_also(page: Page, sections: dict[str, str], link: Link) -> None:
    all_sheets = sheets()
    links = [
        (link("sheet", id), all_sheets[id].title)
        for id in words(page.head.get("sheets", ""))
        if id in all_sheets
    ]
    if links:
        sections["See also"] = _list(links)


def _list(items: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"- {name}: {title}" for name, title in items)


def _bits(bits: float) -> str:
    return f"{bits:+.3g}" if bits else ""


def _put_after(sections: dict[str, str], heading: str, new: str, text: str) -> None:
    """A section put behind another one, at the end when that is missing; none when it is empty."""
    if not text:
        return
    items = list(sections.items())
    at = next((i + 1 for i, (name, _) in enumerate(items) if name == heading), len(items))
    sections.clear()
    sections.update([*items[:at], (new, text), *items[at:]])


def _put_before(sections: dict[str, str], heading: str, new: str, text: str) -> None:
    """A section put in front of another one, at the end when that is missing."""
    names = list(sections)
    before = names[names.index(heading) - 1] if heading in names[1:] else ""
    _put_after(sections, before, new, text)


def one_line(kind: str) -> list[tuple[str, str, str]]:
    """Id, group and one line of every page of a kind, as they are listed."""
    if kind == "causes":
        ordered = sorted(causes().values(), key=lambda cause: (category_order(cause.category), cause.id))
        return [(cause.id, cause.category, cause.meaning) for cause in ordered]
    if kind == "symptoms":
        return [(symptom.id, "", symptom.meaning) for symptom in symptoms().values()]
    if kind == "remedies":
        return [(remedy.id, "", remedy.title) for remedy in remedies().values()]
    if kind == "sheets":
        return [(sheet.id, "", sheet.meaning) for sheet in sheets().values()]
    if kind == "changes":
        from traindx.experiment.runtime.change import change_specs

        return [(unit.id, "", unit.title) for unit in change_specs().values()]
    if kind == "checks":
        from traindx.experiment.preflight.check import items

        return [(item.id, item.group, first_paragraph(item.page)) for item in items()]
    from traindx.core.units import detectors

    return [(unit.id, unit.area, first_paragraph(unit.page) or unit.title) for unit in detectors()]


def category_order(category: str) -> int:
    """The place of a category in lists of causes: in the order of checking, harmless ones last."""
    order = ("optimisation", "model", "loss", "data", "code", "throughput", "distributed", "benign")
    return order.index(category) if category in order else len(order)
