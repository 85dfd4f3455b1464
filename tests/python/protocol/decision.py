"""The tables of docs/decisions/0019-one-call-object.md, so that tests compare the state machines with the
page."""

import re
from pathlib import Path

_PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "0019-one-call-object.md"


def table(heading: str) -> dict[tuple[str, str], str]:
    """The text of each cell by state and event."""
    text = _PAGE.read_text("utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not re.fullmatch(r"[|\- ]+", line)
    ]
    head, *body = rows
    cells = {}
    for state, *row in body:
        for names, cell in zip(head[1:], row, strict=True):
            for event in names.split(", "):
                cells[state, event] = cell
    return cells
