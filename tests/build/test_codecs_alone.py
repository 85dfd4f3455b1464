"""A program that only keeps values brings no network along: no Asio, no Boost, no thread in C++, no socket in
Python."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Cmake

HERE = Path(__file__).parent
SCHEMA = HERE / "codecs_alone/keep.mfidl"

NETWORK = {
    "asyncio",
    "concurrent.futures",
    "multiprocessing",
    "select",
    "selectors",
    "socket",
    "ssl",
    "threading",
}

SAY_MODULES = "\nimport sys; print(*sorted(sys.modules))"
USE_CODECS = """
import mf
import keep
posting = keep.Posting(1, [2, 3], {"a": [keep.Point(1.0, 2.0, keep.Rank.pagerank)]}, mf.Timestamp(4))
page = keep.Page("http://a.org", None, 0.25, [keep.Point()], keep.ValueAll([keep.ValueText("b")]))
site = keep.Site("d", None, [page])
site.next = site
for value in (posting, posting.terms["a"][0], page, site, keep.Missing("c")):
    assert mf.to_json(mf.from_json(type(value), mf.to_json(value))) == mf.to_json(value)
    data = mf.to_bytes(value)
    assert mf.to_bytes(mf.from_bytes(type(value), data)) == data
    assert mf.hash64(value) != mf.hash37(value)
"""


def modules_after(code: str, *paths: Path) -> set[str]:
    """What a process has imported that the interpreter did not bring by itself."""
    found = []
    for text in (code, ""):
        lead = f"import sys; sys.path[:0] = {[str(each) for each in paths]!r}\n"
        done = subprocess.run(
            [sys.executable, "-c", lead + text + SAY_MODULES],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append(set(done.stdout.split()))
    return found[0] - found[1]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("python")
    command = [sys.executable, "-m", "mfidl", "compile", str(SCHEMA), "--python", str(out)]
    subprocess.run(command, check=True, timeout=60)
    return out


def test_python_codecs_import_neither_sockets_nor_threads(generated: Path) -> None:
    found = modules_after(USE_CODECS, generated)

    assert {"mf.codec.value", "keep", "keep._codec"} <= found
    assert found & NETWORK == set()
    runtime = {name.split(".")[1] for name in found if name.startswith("mf.")}
    assert runtime == {"codec", "core"}


def test_a_client_does_import_them() -> None:
    assert {"socket", "threading"} <= modules_after("import mf; mf.Client")


# What a C++ program with nothing but the standard library needs.
PLAIN = {"linux-vdso.so", "libstdc++.so", "libm.so", "libgcc_s.so", "libc.so", "ld-linux-x86-64.so"}
FORBIDDEN = re.compile(
    r"\bboost::|\basio::|\bstd::(thread|jthread|condition_variable|mutex|future|__future)|\bpthread_(?!self)"
    r"|\b(socket|connect|accept4?|epoll_\w+|poll|select|eventfd|fork|clone)(@|$)"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, prefix: Path, cmake: type[Cmake]) -> Path:
    source = tmp_path_factory.mktemp("alone") / "project"
    shutil.copytree(HERE / "codecs_alone", source)
    built = cmake(source, prefix, "Ninja")
    built.build()
    assert built.run("keep") == "1111\n"
    return source / "build/keep"


def said(*command: str | Path) -> list[str]:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.timeout(300)
def test_a_program_of_codecs_links_nothing_but_the_standard_library(program: Path) -> None:
    libraries = {Path(line.split()[0]).name.partition(".so")[0] + ".so" for line in said("ldd", program)}

    assert "libstdc++.so" in libraries
    assert libraries <= PLAIN


@pytest.mark.timeout(300)
def test_a_program_of_codecs_has_no_symbol_of_asio_of_boost_or_of_a_thread(program: Path) -> None:
    symbols = said("nm", "--demangle", program)

    assert any("keep::Posting" in each for each in symbols)
    assert [each for each in symbols if FORBIDDEN.search(each)] == []


def test_the_library_of_codecs_refers_to_none_of_them(prefix: Path) -> None:
    [library] = prefix.rglob("libmf_core.a")
    undefined = [
        line.split(" U ", 1) for line in said("nm", "-A", "--demangle", "-u", library) if " U " in line
    ]

    assert any("std::" in symbol for _, symbol in undefined)
    # Programs of codecs link neither the log, which a thread writes, nor what waits for interceptors.
    found = {place.split(":")[1] for place, symbol in undefined if FORBIDDEN.search(symbol)}
    assert found <= {"intercepting.cpp.o", "log.cpp.o", "log_output.cpp.o", "log_writer.cpp.o"}


def test_the_pattern_knows_them_where_they_are(prefix: Path) -> None:
    [library] = prefix.rglob("libmf_runtime.a")

    assert any(FORBIDDEN.search(line) for line in said("nm", "--demangle", "-u", library))
