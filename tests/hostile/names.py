"""Names as nobody should choose them: for runs, files, metrics, layers, settings and scripts."""

from __future__ import annotations

NAMES = {
    "ansi": "\x1b[31mred\x1b]0;title\x07\x1b[2J\x08\x7f",
    "c1": "\x9b31m\x85\x90\x9d0;title\x9c",
    "bidi": "\u202egnp.exe\u202c\u2066x\u2069\u200f\ufeff\u200b",
    "separators": "a\u2028b\u2029c\x0bd\x0ce\x1cf",
    "newline": "first\nsecond\r\nthird\tcell",
    "html": "<img src=x onerror=alert(1)></script><script>alert('x')</script>\"'<b>&lt;&#60;",
    "attribute": "\" onmouseover=alert(1) style='x' <!--",
    "markdown": "[click](http://evil.example) ![x](http://evil.example/x.png) **b** _i_ ~~s~~ <http://evil.example>",
    "table": "a | b || c \\| d",
    "backticks": "`code` ``two`` ``` fence",
    "heading": "# heading",
    "rule": "--- \n===\n> quote\n- item\n1. one",
    "mathtext": r"$\frac{1}{x$ $\nothing$ $x^$ \sqrt{2 } $$",
    "formula": "=cmd|'/c calc'!A1",
    "template": "%{x} {0} {} %s %(x)s ${y} <%= 1 %>",
    "option": "--help",
    "shell": "$(touch owned); `touch owned` '\"& rm x",
    "address": "http://evil.example/?q=javascript:alert(1) www.evil.example a@evil.example",
    "surrogate": "\udcff\udc80x",
    "astral": "\U000e0041\U000e007f\U0010ffff\ue000",
    "combining": "a" + "\u0301" * 60,
    "wide": "漢字" * 30,
    "long": "x" * 5000,
    "many parts": "/".join(["part"] * 60),
    "blank": " \t ",
    "nul": "a\x00b",
    "dots": "../../etc/passwd",
}
# What a file can be called; the bytes of the surrogates are no UTF-8.
FILES = {
    key: name.replace("/", "_").encode("utf-8", "surrogateescape")[:180].decode("utf-8", "surrogateescape")
    for key, name in NAMES.items()
    if "\x00" not in name
}
