"""The blocks of docs/calls.md: C++ passes both compilers; Python passes mypy and runs, over TCP and in
light.

The word behind the language is the place of a block: `top` in the file, `async` in a coroutine, `handler` in
a handler, `tcp` in a function that is called over TCP alone; others in a function. A block sees
`client`, and `index`, where it is no
handler: those of asyncio in a coroutine.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from mfidl.compiler import check
from mfidl.emit import cpp, python
from mfidl.emit.output import EmitOptions
from tests.compiler.cpp import COMPILERS, ROOT, run_all, syntax
from tests.mypy import mypy_cache

_PAGE = ROOT / "docs/calls.md"
_BLOCK = re.compile(r"^```(mfidl|cpp|python)(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_CPP_HEAD = """\
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>

#include "calls.client.hpp"
#include "calls.server.hpp"
#include "mf/client/asio.hpp"
#include "mf/core/current_call.hpp"

using namespace std::chrono_literals;
"""
_CPP = {
    "": ("[[maybe_unused]] void block_{}(mf::Client& client, const calls::IndexClient& index) {{\n"
         "  (void)client;\n  (void)index;\n", "}\n"),
    "async": ("boost::asio::awaitable<void> block_{}(const calls::IndexClient& index) {{\n", "}\n"),
    "handler": ("void block_{}() {{\n", "}\n"),
}  # fmt: skip

_PYTHON_HEAD = """\
import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from itertools import count

import mf
from calls import IndexAsyncClient, IndexClient, IndexLookUpRequest, IndexServant, NoSuchWord, Posting
"""
_PYTHON = {
    "": "def block_{}(client: mf.Client, index: IndexClient) -> None:\n",
    "async": "async def block_{}(client: mf.AsyncClient, index: IndexAsyncClient) -> None:\n",
    "handler": "def block_{}() -> None:\n",
    "tcp": "def block_{}(client: mf.Client, index: IndexClient) -> None:\n",
}


def _blocks(language: str) -> list[tuple[str, str]]:
    """Place and text of each; those of the file first, which the others use."""
    found = [(place, text) for which, place, text in _BLOCK.findall(_PAGE.read_text()) if which == language]
    return sorted(found, key=lambda block: block[0] != "top")


def _generate(generator: str, folder: Path) -> None:
    ((_, text),) = _blocks("mfidl")
    (folder / "calls.mfidl").write_text(text)
    outcome = check([str(folder / "calls.mfidl")], [str(folder)])
    assert outcome.program is not None
    made = (cpp if generator == "cpp" else python).generate(outcome.program, EmitOptions("", "0"))
    for each in made:
        (folder / each.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / each.path).write_text(each.text)


@pytest.mark.timeout(300)
def test_the_cpp_of_the_page_compiles(tmp_path: Path) -> None:
    _generate("cpp", tmp_path)
    program = _CPP_HEAD
    for i, (place, text) in enumerate(_blocks("cpp")):
        if place == "top":
            program += text
        else:
            head, tail = _CPP[place]
            program += head.format(i) + indent(text, "  ") + tail
    (tmp_path / "page.cpp").write_text(program)
    commands = {
        compiler: syntax(
            compiler, tmp_path / "page.cpp", f"-I{tmp_path}", "-Wno-unused-variable", "-Wno-unused-function",
            "-Wno-unused-but-set-variable", "-DBOOST_ASIO_SEPARATE_COMPILATION",
        )
        for compiler in COMPILERS
    }  # fmt: skip
    assert run_all(commands) == dict.fromkeys(commands, "")


def _python_program() -> str:
    program = _PYTHON_HEAD
    calls: list[str] = []
    awaited: list[str] = []
    in_handler: list[str] = []
    for i, (place, text) in enumerate(_blocks("python")):
        if place == "top":
            program += text
            continue
        program += _PYTHON[place].format(i) + indent(text, "    ")
        if place == "handler":
            in_handler.append(f"        block_{i}()\n")
        elif place == "async":
            awaited.append(f"        await block_{i}(client, index)\n")
        elif place == "tcp":
            calls.append(f"    if isinstance(where, str):\n        block_{i}(client, index)\n")
        else:
            calls.append(f"    block_{i}(client, index)\n")
    return f"""{program}
class Telling(Books):
    def look_up(self, word: str) -> int:
{"".join(in_handler)}        return super().look_up(word)


def run(where: str | mf.Light) -> None:
    with mf.Client(where) as client:
        index = IndexClient(client).at("books")
{"".join(indent(call, "    ") for call in calls)}
    asyncio.run(run_awaited(where))


async def run_awaited(where: str | mf.Light) -> None:
    async with mf.AsyncClient(where) as client:
        index = IndexAsyncClient(client).at("books")
{"".join(awaited)}

if sys.argv[1] == "light":
    light = mf.Light()
    light.offer(Telling(), agent="books")
    run(light)
else:
    server = mf.Server()
    server.offer(Telling(), agent="books")
    server.start()
    run(server.address)
    server.stop()
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    _generate("python", folder)
    path = folder / "page.py"
    path.write_text(_python_program())
    return path


def _run(program: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(program.parent), str(ROOT / "runtime/python")))
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": path, "MYPYPATH": path},
        cwd=program.parent,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


_SHOWN = """\
1 1 0 0 0
[True, False]
[True, False]
{'books': 5}
Posting(doc=1, word='apple')
[]

[True, False]
Posting(doc=1, word='apple')
[]
"""


@pytest.mark.parametrize("way", ["tcp", "light"])
def test_the_python_of_the_page_runs(program: Path, way: str) -> None:
    done = _run(program, str(program), way)

    assert (done.returncode, done.stderr) == (0, "")
    shown = re.sub(r"^({'books': 5}) .*UNKNOWN_AGENT.*$", r"\1", done.stdout, flags=re.MULTILINE)
    assert shown == _SHOWN


def test_the_python_of_the_page_passes_mypy_strict(program: Path) -> None:
    done = _run(
        program, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", mypy_cache(), str(program)
    )

    assert done.returncode == 0, done.stdout + done.stderr
