"""What cmake/hardening.cmake asks for is in the programs and libraries of the release build."""

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release"))
PROGRAMS = ("mf-controller", "mf-relay", "mf-bridge")
LIBRARIES = ("asio", "core", "protocol", "runtime", "groups", "bridge")
FORTIFIED = re.compile(r"\b__(mem|str|v?sn?printf|v?f?printf)\w*_chk\b")
PROBE = re.compile(r"\bor[ql]\s+\$0x0,\(%rsp\)")  # of the next page of a large stack frame, before it is used


def said(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"{done.stderr}build it first: cmake --preset release && cmake --build --preset release"
    )
    return done.stdout


def of_linker(program: Path) -> set[str]:
    """What the linker has done for a program."""
    segments, dynamic = said("readelf", "-lW", program), said("readelf", "-dW", program)
    flags = re.findall(r"^ +(\w+) +0x.* ([R ][W ][E ]) ", segments, re.MULTILINE)
    stack = [each for name, each in flags if name == "GNU_STACK"]
    return {
        name
        for name, holds in {
            "RELRO": any(name == "GNU_RELRO" for name, _ in flags),
            "BIND_NOW": "BIND_NOW" in dynamic and re.search(r"FLAGS_1\).*\bNOW\b", dynamic) is not None,
            "PIE": re.search(r"FLAGS_1\).*\bPIE\b", dynamic) is not None,
            "noexecstack": stack == ["RW "],
            "nothing writable is executable": not any("W" in each and "E" in each for _, each in flags),
        }.items()
        if holds
    }


ALL_OF_LINKER = {"RELRO", "BIND_NOW", "PIE", "noexecstack", "nothing writable is executable"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_linked_with_all(name: str) -> None:
    assert of_linker(BUILD / name) == ALL_OF_LINKER


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_checks_its_stack_and_its_buffers(name: str) -> None:
    symbols = said("readelf", "-W", "--dyn-syms", BUILD / name)

    assert "__stack_chk_fail" in symbols
    assert FORTIFIED.search(symbols)


@pytest.mark.parametrize("name", LIBRARIES)
def test_each_source_of_a_library_is_compiled_with_all(name: str) -> None:
    library = BUILD / f"libmf_{name}.a"
    sections = [each for each in re.split(r"(?m)^File: ", said("readelf", "-SW", library)) if ".text" in each]
    notes = re.split(r"(?m)^File: ", said("readelf", "-nW", library))

    assert sections
    assert all(re.search(r"\.note\.GNU-stack +PROGBITS +\w+ \w+ 0+ \d\d +0", each) for each in sections)
    assert "__stack_chk_fail" in said("readelf", "-sW", library)
    if platform.machine() == "x86_64":
        assert sum("SHSTK" in each for each in notes) == len(sections)


@pytest.mark.parametrize("name", ["core", "runtime"])
def test_a_library_that_copies_bytes_does_it_with_checks(name: str) -> None:
    assert FORTIFIED.search(said("readelf", "-sW", BUILD / f"libmf_{name}.a"))


def test_large_stack_frames_are_probed_page_by_page() -> None:
    if platform.machine() == "x86_64":
        assert PROBE.search(said("objdump", "-d", "--no-show-raw-insn", BUILD / "mf-relay"))
    options = (ROOT / "cmake/hardening.cmake").read_text()
    assert "-fstack-clash-protection" in options


def test_a_program_without_all_that_is_recognized(tmp_path: Path) -> None:
    source, program = tmp_path / "a.cpp", tmp_path / "a"
    source.write_text("int main() {}\n")
    bare = ("-no-pie", "-fno-pie", "-fno-stack-protector", "-Wl,-z,norelro,-z,lazy,-z,execstack")
    said("g++", *bare, "-o", program, source)

    assert of_linker(program) <= {"nothing writable is executable"}
    assert "__stack_chk_fail" not in said("readelf", "-W", "--dyn-syms", program)
