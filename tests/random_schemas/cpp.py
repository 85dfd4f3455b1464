"""The third reading: generated C++ with the C++ runtime, as a program that answers line by line (driver.hpp).

It is compiled as strictly as users may, once a schema; MF_BUILD_DIR holds the runtime's library.
"""

import contextlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mf.codec.fault import Fault as Number
from mfidl import model
from mfidl.compiler import Exit, Targets, compile_files
from mfidl.emit.cpp.names import Names
from tests.random_schemas.made import Made
from tests.random_schemas.readings import Crash, Fault, Outcome, Subject, Value, Violated

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
_CODE = ("-std=c++20", "-O0", "-DNDEBUG")
_WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


class CompileError(Exception):
    """What the C++ compiler or linker had to say."""


def library() -> Path:
    return Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "libmf_core.a"


def precompiled(folder: Path, compiler: str = "g++") -> Path:
    """The runtime's headers, for build() of several schemas: a folder for its compiler to look into first."""
    (folder / "all.hpp").write_text('#include "driver.hpp"\n')
    command = [compiler, *_CODE, *_includes(), "-x", "c++-header", str(folder / "all.hpp")]
    subprocess.run([*command, "-o", str(folder / "all.hpp.gch")], check=True)
    return folder


def build(made: Made, about: Sequence[Subject], compiler: str = "g++", headers: Path | None = None) -> Path:
    """The program; raises CompileError. Each generated source is compiled by itself; with `headers` quickly,
    but then a header that it forgets is not noticed.
    """
    sources = ["driver.cpp", *_below(made.cpp, "cpp")]
    (made.cpp / "driver.cpp").write_text(_driver(made, about))
    before = () if headers is None else (f"-I{headers}", "-include", "all.hpp")
    objects = []
    for source in sources:
        # Uses of what is deprecated are warned of: the driver has some, generated code must have none.
        quiet = ("-Wno-deprecated-declarations",) if source == "driver.cpp" else ()
        target = source.replace("/", "_").removesuffix(".cpp") + ".o"
        options = (*_CODE, *before, *_WARNINGS, *quiet, *_includes())
        _run(made, compiler, *options, "-c", source, "-o", target)
        objects.append(target)
    _run(made, compiler, *objects, str(library()), "-o", "driver")
    return made.cpp / "driver"


def warnings(made: Made, compiler: str) -> list[str]:
    """Of all that is generated, clients and servers too."""
    found = []
    whole = made.folder / "whole"
    targets = Targets(cpp=str(whole))
    outcome = compile_files([str(each) for each in made.files], [str(made.folder)], targets)
    assert outcome.exit is Exit.OK
    for source in _below(whole, "cpp"):
        try:
            options = ("-std=c++20", *_WARNINGS, f"-I{whole}", *_includes(), "-fsyntax-only")
            _run(made, compiler, *options, str(whole / source))
        except CompileError as failure:
            found.append(str(failure))
    return found


def _below(folder: Path, suffix: str) -> list[str]:
    """The generated files."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob(f"*.{suffix}"))
    return [each for each in files if each != "driver.cpp"]


def _includes() -> tuple[str, ...]:
    folders = [
        Path(),
        ROOT / "runtime/cpp/include",
        *(library().parent / f"{name}.mfidl" for name in ("mf_runtime", "mf_groups")),
        HERE,
    ]
    return tuple(f"-I{folder}" for folder in folders)


def _run(made: Made, *command: str) -> None:
    environment = {
        **os.environ,
        "CCACHE_BASEDIR": str(made.folder),
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",
    }
    done = subprocess.run(
        ["ccache", *command], cwd=made.cpp, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CompileError(f"{' '.join(command)}\n{done.stderr or done.stdout}")


def _driver(made: Made, about: Sequence[Subject]) -> str:
    spelled = _Spelled(made.generated)
    lines = ['#include "driver.hpp"\n', *(f'#include "{each}"' for each in _below(made.cpp, "hpp"))]
    lines += ["\nint main() {", "  return driver::run({"]
    lines += [f"      {spelled.subject(each)}," for each in about]
    return "\n".join([*lines, "  });", "}", ""])


class _Spelled:
    """How generated C++ names a type that is used alone."""

    def __init__(self, program: model.Program) -> None:
        self._names = Names(program)
        self._program = program
        self._methods: dict[str, str] = {}
        for module in program.requested:
            names = self._names.module(module.name)
            for service in module.services:
                for method, of in zip(service.methods, names.service(service).methods, strict=True):
                    described = f"::{names.namespace}::methods::{of.description}"
                    self._methods[method.params.full_name] = f"driver::request<{described}>()"
                    self._methods[method.results.full_name] = _result(method, described)

    def subject(self, subject: Subject) -> str:
        if not subject.has_json:
            return self._methods[subject.name]
        name = f"::{self._names.owner(subject.name).namespace}::{self._names.of(subject.name)}"
        declared = self._program.declaration(subject.name)
        if isinstance(declared, model.Struct | model.Union) and model.graph_tables(
            self._program.declarations, declared
        ):
            name = f"mf::Graph<{name}>"
        return f"driver::declared<{name}>()"


def _result(method: model.Method, described: str) -> str:
    only = f'"{method.results.fields[0].name}"' if method.single_result else ""
    return f"driver::result<{described}>({only})"


class Cpp:
    name = "C++"

    def __init__(self, program: Path, about: Sequence[Subject]) -> None:
        self._path = program
        self._at = {each.name: at for at, each in enumerate(about)}
        self._process = self._started()

    def close(self) -> None:
        self._ended()

    def _ended(self) -> int:
        """With which status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # an unread question may be left in it
            self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait(10)

    def write(self, subject: Subject, text: bytes) -> Outcome:
        if b"\n" in text:
            return Crash("a line break in JSON text cannot be asked for")
        return self._asked(b"W %d %s\n" % (self._at[subject.name], text))

    def read(self, subject: Subject, data: bytes) -> Outcome:
        return self._asked(b"R %d %s\n" % (self._at[subject.name], data.hex().encode() or b"-"))

    def _started(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([str(self._path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _asked(self, line: bytes) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer is empty then
        answer = self._process.stdout.readline()
        if not answer:
            status = self._ended()
            self._process = self._started()
            return Crash(f"the program ended with {status}")
        return _outcome(answer.rstrip(b"\n").decode("utf-8", "surrogateescape"))


def _outcome(answer: str) -> Outcome:
    kind, *parts = answer.split("\t", 5)
    match kind, parts:
        case "V", [data, hash37, hash64, violated, text]:
            data = "" if data == "-" else data
            violated = "" if violated == "-" else violated
            return Value(text, bytes.fromhex(data), int(hash37), int(hash64), violated)
        case ("C", [words]) | ("F", ["0", _, words]):
            return Violated(words)
        case "F", [number, offset, path]:
            return Fault(Number(int(number)).name, int(offset), path)
        case _:
            return Crash(answer)
