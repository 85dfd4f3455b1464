"""docs/errors.md from the catalogue and its explanations. `python tests/compiler/errors_page.py` writes it
anew.
"""

from __future__ import annotations

from pathlib import Path

from mfidl.cli.topics import EXIT_CODES
from mfidl.compiler import Exit
from mfidl.diagnostics import CATALOGUE
from mfidl.diagnostics.explain import explanations

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
_HEAD = Path(__file__).with_name("errors_page_head.md")
_GROUPS = {
    "00": "Files",
    "01": "Syntax",
    "02": "Modules and imports",
    "03": "Names",
    "04": "Types",
    "05": "Values",
    "06": "Annotations and methods",
    "07": "Tiers",
    "08": "What is generated",
    "09": "Generators of others, and templates",
    "10": "Files of others",
}


def page() -> str:
    """The whole page, by number: an error and a warning of one number stand together."""
    rows = "".join(f"| {code} | {text} |\n" for code, text in EXIT_CODES)
    head = _HEAD.read_text().replace("EXIT_CODES\n", f"| exit code | |\n|---|---|\n{rows}")
    pieces = [head]
    texts, group = explanations(), ""
    for code in sorted(CATALOGUE.values(), key=lambda each: (each.code[1:], each.code)):
        if code.code[1:3] != group:
            group = code.code[1:3]
            pieces.append(f"\n## {_GROUPS[group]}\n")
        text = texts[code.code].text if code.code in texts else code.explanation + "\n"
        pieces.append(f"\n### {code.code}: {code.title}\n\n{text}")
    return "".join(pieces)


assert {each.value for each in Exit} <= {code for code, _ in EXIT_CODES}

if __name__ == "__main__":
    PAGE.write_text(page())
