"""The process that compiles: its deadline, and what it cannot do."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from mfidl.serve.confined import guard
from mfidl.serve.worker import Busy, Worker

SCHEMA = "module a;\nstruct B { c: u8; }\n"
ROOTS = ("/compiler/",)
LISTED = frozenset({"/modules"})


def _ask(worker: Worker, **question: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(worker.ask(question))
    return found


def test_one_process_answers_one_question_after_another() -> None:
    worker = Worker()
    try:
        for _ in range(2):
            assert _ask(worker, ask="schema", schema=SCHEMA)["types"] == ["B"]
    finally:
        worker.close()


def test_an_answer_that_takes_too_long_is_ended_and_the_next_question_is_answered() -> None:
    worker = Worker(deadline=0.5)
    long = "module a;\n" + "".join(f"struct S{n} {{ a: list<string>; }}\n" for n in range(4000))
    try:
        assert _ask(worker, ask="schema", schema=long) == {
            "failure": "this took longer than 0.5 s, and was ended"
        }
    finally:
        worker.close()
    again = Worker()
    try:
        assert _ask(again, ask="schema", schema=SCHEMA)["types"] == ["B"]
    finally:
        again.close()


def test_a_question_that_needs_too_much_memory_is_answered_with_that() -> None:
    program = (
        "import resource, mfidl.serve.work as work\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n"
        "work.answer = lambda question: bytearray(1 << 29)\n"
        "print(work._answered({}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "{'failure': 'this needs more memory than the playground gives it'}\n"


def test_a_question_too_many_is_refused() -> None:
    worker = Worker(deadline=30)
    long = "module a;\n" + "".join(f"struct S{n} {{ a: list<string>; }}\n" for n in range(1500))
    refused: list[bool] = []

    def ask() -> None:
        try:
            worker.ask({"ask": "schema", "schema": long})
        except Busy:
            refused.append(True)

    threads = [threading.Thread(target=ask) for _ in range(12)]
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        worker.close()
    assert len(refused) >= 4  # eight places for twelve, and those that waited for too long


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("/etc/passwd", "r", 0)),
        ("open", (b"/etc/passwd", None, os.O_RDONLY)),
        ("open", ("/compiler/../etc/passwd", "r", 0)),
        ("open", ("/compiler/schema.py", "w", os.O_WRONLY)),
        ("open", ("/compiler/schema.py", None, os.O_RDWR)),
        ("open", ("schema.mfidl", "r", 0)),
        ("open", (7, "r", 0)),
        ("os.listdir", ("/etc",)),
        ("os.scandir", (Path("/home"),)),
        ("subprocess.Popen", ("sh", [], None, None)),
        ("os.system", (b"id",)),
        ("socket.connect", (None, ("127.0.0.1", 80))),
    ],
)
def test_files_programs_and_connections_are_refused(event: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(PermissionError, match="the playground"):
        guard(ROOTS, LISTED)(event, arguments)


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("/compiler/templates/cpp/hpp.j2", "r", os.O_RDONLY)),
        ("os.listdir", ("/modules",)),
        ("import", ("json", None, None, None, None)),
    ],
)
def test_the_compilers_own_files_are_read(event: str, arguments: tuple[Any, ...]) -> None:
    guard(ROOTS, LISTED)(event, arguments)


def test_the_process_is_confined() -> None:
    """What a mistake in the compiler could do: open a file when it has confined itself."""
    script = (
        "from mfidl.serve.confined import confine\n"
        "confine()\n"
        "import colorsys\n"  # a module of Python itself, which is read now
        "for path in ('/etc/passwd', __file__ if '__file__' in globals() else '/etc/hostname'):\n"
        "    try:\n"
        "        open(path)\n"
        "    except PermissionError as refusal:\n"
        "        print(refusal)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "the playground opens no files of this machine\n" * 2


def test_the_process_ends_with_its_server() -> None:
    ours, its = socket.socketpair()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    command = [sys.executable, "-P", "-m", "mfidl.serve.work", str(its.fileno())]
    with its, subprocess.Popen(command, pass_fds=[its.fileno()], env=environment) as running:
        its.close()
        ours.settimeout(60)
        assert ours.recv(16) == b"{}\n"
        ours.close()
        assert running.wait(60) == 0
