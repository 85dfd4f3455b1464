"""The examples of README.md, of some documents and of the language's design are compiled: C++ passes both
compilers, Python is imported.

An example is a block marked `mfidl`, or `mfidl W0801` where it is warned of what is left out. Other marks
name its errors (tests/compiler/test_language_page.py), or a file that the others import.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from mfidl import model
from mfidl.compiler import check
from mfidl.diagnostics import Diagnostics
from mfidl.emit import cpp, python
from mfidl.emit.generable import for_language
from mfidl.emit.output import EmitOptions
from tests.compiler.cpp import COMPILERS, ROOT, run_all, syntax

HERE = Path(__file__).parent
PAGES = ("README.md", "docs/language.md", "docs/tiers.md", "docs/from-macros.md", "docs/calls.md")
_BLOCK = re.compile(r"^```mfidl(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTIONS = EmitOptions("", "0")


@dataclass(slots=True)
class Tree:
    """The files of examples that do not say different things of one module."""

    files: dict[str, str] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)

    def takes(self, files: dict[str, str]) -> bool:
        return all(self.files.get(path, text) == text for path, text in files.items())


def _examples() -> Iterator[tuple[str, str, str]]:
    """Page, mark and text of each block."""
    for page in PAGES:
        for mark, text in _BLOCK.findall((ROOT / page).read_text()):
            yield page, mark, text


def _programs(folder: Path) -> Iterator[model.Program]:
    blocks = list(_examples())
    for _, mark, text in blocks:
        if mark.endswith(".mfidl"):
            (folder / mark).parent.mkdir(parents=True, exist_ok=True)
            (folder / mark).write_text(text)
    for i, (page, mark, text) in enumerate(blocks):
        if mark.endswith(".mfidl") or any(code.startswith("E") for code in mark.split()):
            continue
        path = folder / f"{page.replace('/', '_')}_{i}.mfidl"
        path.write_text(text if "module " in text else f"module example_{i};\n{text}")
        outcome = check([str(path), *map(str, sorted(folder.glob("*/*.mfidl")))], [str(folder)])
        assert outcome.program is not None, (page, [each.message for each in outcome.diagnostics])
        yield outcome.program
    outcome = check([str(HERE / "whole_language.mfidl")], [str(HERE / "whole_language")])
    assert outcome.program is not None
    everything = [replace(each, requested=True) for each in outcome.program.modules]
    yield model.Program(tuple(everything))


def _trees(generator: str, programs: list[model.Program]) -> list[Tree]:
    trees: list[Tree] = []
    for program in programs:
        own = for_language(program, "cpp" if generator == "cpp" else "python", Diagnostics())
        made = (cpp if generator == "cpp" else python).generate(own, _OPTIONS)
        files = {each.path: each.text for each in made}
        tree = next((each for each in trees if each.takes(files)), None)
        if tree is None:
            tree = Tree()
            trees.append(tree)
        tree.files |= files
        tree.modules |= {each.name for each in program.requested}
    return trees


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[model.Program]:
    return list(_programs(tmp_path_factory.mktemp("pages")))


def _write(tree: Tree, folder: Path) -> None:
    for path, text in tree.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


_CPP = {
    "f32": "float",
    "f64": "double",
    "u32": "std::uint32_t",
    "i32": "std::int32_t",
    "u64": "std::uint64_t",
}


def _write_existing(struct: model.Struct, folder: Path) -> None:
    """The type that @cpp.type says is there."""
    assert struct.cpp_type is not None
    namespace, _, name = struct.cpp_type.type.rpartition("::")
    fields = "".join(f" {_CPP[model.spell(each.type)]} {each.name};" for each in struct.fields)
    path = folder / struct.cpp_type.header
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f"#pragma once\n#include <cstdint>\nnamespace {namespace} {{ struct {name} {{{fields} }}; }}\n"
    path.write_text(text)


def _write_codec(struct: model.Struct, folder: Path) -> None:
    """The type and codec that @cpp.codec says are there."""
    assert struct.cpp_codec is not None
    namespace, _, name = struct.cpp_codec.type.rpartition("::")
    codec = struct.cpp_codec.codec.rpartition("::")[2]
    path = folder / struct.cpp_codec.header
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"""#pragma once
#include <cstddef>
#include <span>
namespace {namespace} {{
struct {name} {{}};
struct {codec} {{
  static std::size_t size(const {name}&) {{ return 0; }}
  static void write(std::span<std::byte>, const {name}&) {{}}
  static bool read(std::span<const std::byte> from, {name}&) {{ return from.empty(); }}
}};
}}
""")


@pytest.mark.timeout(300)
def test_the_cpp_of_every_example_compiles(tmp_path: Path, programs: list[model.Program]) -> None:
    commands = {}
    own = ("topics", "replication")
    runtime = check([str(ROOT / f"runtime/idl/mf/{name}.mfidl") for name in own]).program
    assert runtime is not None
    for i, tree in enumerate(_trees("cpp", programs)):
        folder = tmp_path / str(i)
        for headers in _trees("cpp", [runtime]):  # those of the runtime include what its build makes of these
            _write(headers, folder)
        _write(tree, folder)
        whole = sorted(path for path in tree.files if path.endswith(".cpp"))
        assert whole
        (folder / "all.cpp").write_text("".join(f'#include "{path}"\n' for path in whole))
        for struct in {each for program in programs for each in program.all_structs() if each.cpp_type}:
            _write_existing(struct, folder)
        for struct in {each for program in programs for each in program.all_structs() if each.cpp_codec}:
            _write_codec(struct, folder)
        for compiler in COMPILERS:
            commands[f"{compiler} {i}"] = syntax(compiler, folder / "all.cpp", f"-I{folder}")
    assert run_all(commands) == dict.fromkeys(commands, "")


def test_the_python_of_every_example_is_imported(tmp_path: Path, programs: list[model.Program]) -> None:
    for i, tree in enumerate(_trees("python", programs)):
        folder = tmp_path / str(i)
        _write(tree, folder)
        packages = sorted(
            path.removesuffix("/__init__.py").replace("/", ".")
            for path in tree.files
            if path.endswith("/__init__.py")
        )
        assert packages
        path = ":".join((str(folder), str(ROOT / "runtime/python")))
        command = [sys.executable, "-W", "error", "-c", "\n".join(f"import {each}" for each in packages)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={"PYTHONPATH": path}, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_the_pages_have_examples() -> None:
    pages = [page for page, mark, _ in _examples() if not any(code[0] == "E" for code in mark.split())]
    assert set(pages) == set(PAGES)
    assert pages.count("docs/language.md") >= 8
