"""Public and generated headers compile behind the macros of Qt, X11, Windows and POSIX, and under the
warnings that programs turn on for their own code.
"""

import re
from pathlib import Path

import pytest

from mfidl.emit.cpp import reserved
from tests.compiler.cpp import ROOT, Command, generate_into, run_all, syntax

MACROS = Path(__file__).with_name("macros.hpp")
PUBLIC = ROOT / "runtime/cpp/include"
GOLDEN = ROOT / "tests/compiler/golden/cpp"
IDL = ROOT / "runtime/idl"
TREES = ("services", "streams", "recursive", "optionals")
WARNINGS = ("-Wshadow", "-Wold-style-cast", "-Wnon-virtual-dtor", "-Woverloaded-virtual")
# Macros with arguments: the name of a field is not followed by arguments.
LEFT_OUT = {"min", "max"}

_DEFINED = re.compile(r"^#define (\w+)(\()?", re.MULTILINE)
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|R"(\w*)\(.*?\)\1"|#\s*include[^\n]*', re.DOTALL)
_SYSTEM = re.compile(r"^#include <([^>]+)>$", re.MULTILINE)


def macros() -> dict[str, bool]:
    """The names of the macros, and whether each has arguments."""
    return {name: bool(arguments) for name, arguments in _DEFINED.findall(MACROS.read_text())}


def collisions(path: Path) -> list[str]:
    code = _NO_CODE.sub(" ", path.read_text())
    known = macros()
    words = re.finditer(r"\b[A-Za-z_]\w*\b", code)
    return [
        each.group()
        for each in words
        if each.group() in known and (not known[each.group()] or re.match(r"\s*\(", code[each.end() :]))
    ]


def headers(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.hpp"))


def test_no_public_header_has_the_name_of_a_macro() -> None:
    assert {
        str(path.relative_to(PUBLIC)): found for path in headers(PUBLIC) if (found := collisions(path))
    } == {}


def test_no_generated_file_has_the_name_of_a_macro() -> None:
    found = {str(path.relative_to(GOLDEN)): collisions(path) for path in headers(GOLDEN)}
    assert {path: names for path, names in found.items() if names} == {}


def test_each_macro_is_a_reserved_name_of_schemas() -> None:
    assert set(macros()) - reserved.everywhere() - LEFT_OUT == set()


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("macros")
    generated = folder / "generated"
    generate_into(generated, sorted(IDL.rglob("*.mfidl")), IDL)
    named = folder / "named.mfidl"
    named.write_text(schema())
    generate_into(generated, [named], folder)
    public = [path.relative_to(PUBLIC) for path in headers(PUBLIC)]
    roots = [generated, *(GOLDEN / name / "out" for name in TREES)]
    own = [path.relative_to(root) for root in roots for path in headers(root)]
    system = sorted(
        {
            name
            for path in (*headers(PUBLIC), *(path for root in roots for path in headers(root)))
            for name in _SYSTEM.findall(path.read_text())
        }
    )
    before = "".join(f"#include <{name}>\n" for name in system if not name.startswith("mf/"))
    ours = "".join(f'#include "{path}"\n' for path in (*public, *own))
    assert len(public) > 200
    behind, plain = folder / "behind.cpp", folder / "plain.cpp"
    behind.write_text(f'{before}#include "{MACROS}"\n{ours}')
    plain.write_text(f"{before}{ours}")
    include = [f"-I{root}" for root in roots]
    commands: dict[str, Command] = {
        "behind macros": syntax("g++", behind, *include),
        "g++": syntax("g++", plain, *include, *WARNINGS, "-Wuseless-cast"),
        "clang++-19": syntax("clang++-19", plain, *include, *WARNINGS),
    }
    return run_all(commands)


def schema() -> str:
    """A schema in which each macro is the name of a field, an enumerator, a parameter and a type."""
    names = sorted(set(macros()) - LEFT_OUT)
    fields = "\n".join(f"  {name}: u32;" for name in names)
    members = ",\n".join(f"  {name} = {number}" for number, name in enumerate(names))
    types = "\n".join(f"struct {name} {{ x: u32; }}" for name in names if name[0].isupper())
    errors = f"error Failed {{\n{fields}\n}}"
    inner = "limits: map<string @length(1..9), list<list<u32 @range(1..9)> @length(1..9)>>;"
    methods = f"service Desk {{ ask({', '.join(f'{name}: u32' for name in names[:20])}) throws Failed; }}"
    return (
        f"module named;\nstruct All {{\n{fields}\n{inner}\n}}\nenum Every: u32 {{\n{members}\n}}\n"
        f"{types}\n{errors}\n{methods}\n"
    )


@pytest.mark.parametrize("which", ["behind macros", "g++", "clang++-19"])
@pytest.mark.timeout(600)
def test_all_headers_compile(which: str, said: dict[str, str]) -> None:
    assert said[which] == ""
