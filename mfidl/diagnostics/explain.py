"""F1. The long texts of the catalogue: for each code what happened, an example that causes it, and the same
example repaired.

They are in `explanations/E03.md` and so on, with a heading for each code, and only `help` and the
documentation read them. In a section, the first code block marked `mfidl` is the example and the second one
its repaired version; a block marked `mfidl PATH` is a further file that both import. Codes that no schema can
cause have a block marked `console`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from mfidl.diagnostics.codes import CATALOGUE, Code

_FOLDER = Path(__file__).parent / "explanations"
_SECTION = re.compile(r"^## ([EW]\d{4})\n", re.MULTILINE)
_FENCE = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Explanation:
    """`example` and `mended` are None for a code that no schema can cause; both import `files`."""

    code: Code
    text: str
    example: str | None
    mended: str | None
    files: tuple[tuple[str, str], ...]


def explain(code: str) -> Explanation | None:
    """The explanation of a code of the catalogue; None where none was written."""
    return explanations(code[:3]).get(code)


def explanations(group: str = "") -> dict[str, Explanation]:
    """All explanations, or those of a group (`E03`), by code."""
    found: dict[str, Explanation] = {}
    for path in sorted(_FOLDER.glob(f"{group}*.md")):
        pieces = _SECTION.split(path.read_text(encoding="utf-8"))
        for code, section in zip(pieces[1::2], pieces[2::2], strict=True):
            found[code] = _read(CATALOGUE[code], section)
    return found


def _read(code: Code, section: str) -> Explanation:
    blocks = list(_FENCE.finditer(section))
    schemas = [each.group(3) for each in blocks if each.group(1) == "mfidl" and not each.group(2)]
    files = tuple(
        (each.group(2), each.group(3)) for each in blocks if each.group(1) == "mfidl" and each.group(2)
    )
    example, mended = (schemas[0], schemas[1]) if len(schemas) > 1 else (None, None)
    return Explanation(code, section.strip() + "\n", example, mended, files)


def plain(text: str) -> str:
    """An explanation for a terminal: blocks of code indented, without their fences."""
    return _FENCE.sub(lambda block: "".join(f"    {line}\n" for line in block.group(3).splitlines()), text)
