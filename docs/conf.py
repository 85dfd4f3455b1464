"""The site that `make docs` builds with Sphinx from the Markdown pages of this tree, read as they are.

The contents come from the lists of docs/README.md (tools/doc_order.py). Two pages are longer on the site:
those of the runtimes, made from docstrings and from the public headers. Every warning of Sphinx is an error.
"""

import re
import sys
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime/python")]

from tools.doc_order import INDEX, sections  # noqa: E402
from tools.read_headers import contract, declarations, public_headers  # noqa: E402

project = "MF/IDL"
extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/README"
include_patterns = [
    "*.md",
    "docs/**.md",
    "examples/README.md",
    "examples/*/README.md",
    "bench/codecs/adapters/README.md",
]
exclude_patterns = ["build", "dist", ".*", "cli", "editors", "mfidl", "runtime", "templates", "tests"]

html_theme = "furo"
html_title = "MF/IDL"
html_copy_source = False
templates_path = ["templates"]
html_additional_pages = {"index": "index.html"}

myst_heading_anchors = 6
highlight_language = "none"
# Pages show parts of programs, and put … where something is left out.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_default_options = {"members": True, "imported-members": True, "member-order": "bysource"}
autodoc_typehints = "description"
default_role = "literal"
python_use_unqualified_type_names = True

breathe_projects = {"mfidl": str(ROOT / "build/doxygen/xml")}
breathe_default_project = "mfidl"


def _contents(pages: list[str], title: str = "") -> str:
    names = "\n".join(str(PurePosixPath(page).with_suffix("")) for page in pages)
    caption = f":caption: {title}\n" if title else ""
    return f"\n```{{toctree}}\n:hidden:\n{caption}\n{names}\n```\n"


def _order() -> str:
    return "".join(_contents(each.pages, each.title) for each in sections((ROOT / INDEX).read_text()))


def _decisions() -> str:
    return _contents(sorted(path.name for path in (ROOT / "docs/decisions").glob("0*.md")))


def _cpp() -> str:
    return "".join(map(_header, public_headers()))


def _header(header: str) -> str:
    """The contract of a header, then what it declares."""
    declared = "\n".join(declarations(header))
    return f"\n## {header}\n\n{_prose(contract(header))}\n\n````{{eval-rst}}\n{declared}\n````\n"


def _prose(text: str) -> str:
    """The text of a comment as Markdown: its indented lines are code, and no sign but ` is markup."""
    parts = []
    for indented, lines in groupby(text.splitlines(), lambda line: line.startswith("  ")):
        part = "\n".join(lines)
        parts.append(
            f"```cpp\n{part}\n```" if indented else re.sub(r"(?m)[<*_\[#|]|^(?=[-+])", r"\\\g<0>", part)
        )
    return "\n\n".join(parts)


def _python() -> str:
    return "\n```{eval-rst}\n.. automodule:: mf\n```\n"


_MORE = {
    "docs/README": _order,
    "docs/decisions/README": _decisions,
    "docs/api-cpp": _cpp,
    "docs/api-python": _python,
}


def _read(_app: Sphinx, name: str, text: list[str]) -> None:
    """Adds to a page what the site makes of it; a page without a place in the order is an orphan."""
    if name in _MORE:
        text[0] += _MORE[name]()
    elif not name.startswith(("docs/", "examples/")):
        text[0] = f"---\norphan: true\n---\n{text[0]}"


def _docstring(*event: Any) -> None:
    """Docstrings are plain text: no sign but ` is markup, and indented lines are code, except below a
    field such as `:param name: …`, which napoleon has made of a line of "Args:".
    """
    lines: list[str] = event[-1]
    made: list[str] = []
    is_field = False
    for indented, group in groupby(list(lines), lambda line: line.startswith("  ")):
        part = list(group)
        if indented and not is_field:
            made += ["::", "", *part, ""]
        else:
            made += [re.sub(_SIGN, r"\\\g<0>", line) for line in part]
        if not indented:
            is_field = next((line for line in reversed(part) if line), "").startswith(":")
    lines[:] = made


_SIGN = re.compile(r"(?<!`)[*|_\\](?=[^`]*(?:`[^`]*`[^`]*)*$)")


class MfidlLexer(RegexLexer):
    """Schemas, as editors/vim/syntax colours them."""

    name = "mfidl"
    aliases = ("mfidl",)
    tokens = {  # noqa: RUF012
        "root": [
            (r"//.*", Comment),
            (r'"(\\.|[^"\\])*"', String),
            (r"@\w+", Name.Decorator),
            (
                r"\b(module|import|as|const|alias|agent|struct|error|enum|flags|service|topic|per|throws|reserved"
                r"|stream|extends|true|false|none)\b",
                Keyword,
            ),
            (r"\b(0[xX][0-9a-fA-F_]+|[0-9][0-9_]*(\.[0-9]+)?)", Number),
            (r"\w+", Name),
            (r"\s+|.", Text),
        ]
    }


def setup(app: Sphinx) -> None:
    app.add_lexer("mfidl", MfidlLexer)
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _docstring)
