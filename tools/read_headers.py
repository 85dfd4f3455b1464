"""Lets Doxygen read the public headers of the C++ runtime, and lists their declarations for docs/conf.py.

The public headers are those that docs/api.md names; of their namespaces only those in SPACES are public. The
XML is in build/doxygen/xml. Run as a program this module runs Doxygen.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "runtime/cpp/include"
XML = ROOT / "build/doxygen/xml"
SPACES = ("mf", "mf::flex", "mf::tokens", "mf::codec")
_HEADER = re.compile(r"`(mf/[\w/]+\.hpp)`")


def public_headers() -> list[str]:
    """Paths below runtime/cpp/include, each once, in the order of the page."""
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    return list(dict.fromkeys(_HEADER.findall(page)))


def contract(header: str) -> str:
    """The comment that opens a header."""
    lines = (INCLUDE / header).read_text(encoding="utf-8").removeprefix("#pragma once\n").splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    return "\n".join(line[2:].removeprefix(" ") for line in lines[:end])


def declarations(header: str) -> Iterator[str]:
    """Directives of reStructuredText for the types, variables and functions of a header."""
    for compound in _compounds("file", "*_8hpp.xml"):
        if _place(compound) == header:
            for inner in compound.iter("innerclass"):
                name = inner.text or ""
                if name.rpartition("::")[0] in SPACES and "<" not in name:
                    kind = inner.get("refid", "").partition("mf")[0]
                    yield f".. doxygen{kind}:: {name}\n   :members:\n   :undoc-members:\n"
    for space in _compounds("namespace", "namespace*.xml"):
        if space.findtext("compoundname") in SPACES:
            yield from (_directive(each) for each in space.iter("memberdef") if _place(each) == header)


def _compounds(kind: str, names: str) -> Iterator[ElementTree.Element]:
    for path in sorted(XML.glob(names)):
        for compound in ElementTree.parse(path).getroot().iter("compounddef"):
            if compound.get("kind") == kind:
                yield compound


def _place(declared: ElementTree.Element) -> str:
    location = declared.find("location")
    return "" if location is None else location.get("file", "")


def _directive(member: ElementTree.Element) -> str:
    kind, name = member.get("kind"), member.findtext("qualifiedname", "")
    if kind != "function":
        return f".. doxygen{kind}:: {name}\n"
    # By its definition, since breathe finds an overloaded template only by the exact text of its parameters.
    parameters = member.find("templateparamlist")
    template = "" if parameters is None else f"template<{', '.join(map(_parameter, parameters))}> "
    text = " ".join(_text(member, part) for part in ("briefdescription", "detaileddescription")).strip()
    escaped = re.sub(r"([*|_`])", r"\\\1", text)
    signature = f"{template}{_text(member, 'type')} {name}{_text(member, 'argsstring')}"
    return f".. cpp:function:: {signature}\n\n   {escaped}\n"


def _parameter(parameter: ElementTree.Element) -> str:
    parts = [_text(parameter, "type"), _text(parameter, "declname")]
    default = _text(parameter, "defval")
    return " ".join([*filter(None, parts), *(["=", default] if default else [])])


def _text(of: ElementTree.Element, part: str) -> str:
    found = of.find(part)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def main() -> int:
    (ROOT / "build").mkdir(exist_ok=True)
    inputs = "".join(f"INPUT += runtime/cpp/include/{header}\n" for header in public_headers())
    settings = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8") + inputs
    return subprocess.run(["doxygen", "-"], input=settings, cwd=ROOT, check=False, text=True).returncode


if __name__ == "__main__":
    sys.exit(main())
