"""The sequence diagrams of docs/replicated.md, drawn from the traces of test_flows.py. To write them there:

python -m tests.python.replicated.diagrams
"""

import re
from pathlib import Path

from mf.replicated.messages import Pattern, Require
from tests.python.replicated.test_flows import ready_world, trace

PAGE = Path(__file__).parents[3] / "docs" / "replicated.md"
_COLUMNS = ("client", "a", "b", "c")
_WIDTH = 14


def diagram(sent: list[tuple[str, str, str]]) -> str:
    """A line for each message, in the order in which they are sent."""
    lines = ["".join(name.ljust(_WIDTH) for name in _COLUMNS).rstrip()]
    for source, to, kind in sent:
        begin, end = _COLUMNS.index(source) * _WIDTH, _COLUMNS.index(to) * _WIDTH
        left, right = min(begin, end), max(begin, end)
        row = ["|" if at % _WIDTH == 0 else " " for at in range(_WIDTH * (len(_COLUMNS) - 1) + 1)]
        row[left + 1 : right] = kind.center(right - left - 1, "-")
        if begin < end:
            row[right - 1] = ">"
        else:
            row[left + 1] = "<"
        lines.append("".join(row).rstrip())
    return "\n".join(lines)


def section() -> str:
    """All of them, as they stand in the page."""
    parts = []
    for pattern in Pattern:
        drawn = diagram(trace(ready_world(), pattern, Require.all))
        parts.append(f"### {pattern.name}\n\n```\n{drawn}\n```\n")
    return "\n".join(parts)


def with_diagrams(page: str) -> str:
    """The page with the diagrams of today."""
    return re.sub(
        r"(?s)(### no_versioning\n.*?)?(?=Which is fastest)",
        lambda _: section() + "\n",
        page.replace("@DIAGRAMS@\n", ""),
        count=1,
    )


if __name__ == "__main__":
    PAGE.write_text(with_diagrams(PAGE.read_text("utf-8")), "utf-8")
