"""The stubs of events.mfidl, and the processes of a test."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import BUILD, Process, Server

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Program:
    """A publisher or a subscriber (programs/)."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.address = process.address if isinstance(process, Server) else ""

    def said(self) -> Any:
        """The first line, of a program that could not begin."""
        return json.loads(self.address)

    def begin(self, command: str) -> None:
        self.process.tell(command)

    def end(self) -> Any:
        return json.loads(self.process.line())

    def ask(self, command: str) -> Any:
        self.begin(command)
        return self.end()


class Programs:
    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
        self._environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self._started: list[Process] = []

    def publisher(self, language: str, controller: str = "", port: int = 0) -> Program:
        where = [controller] if controller else []
        return Program(self._run([*_program(language, "publisher"), f"tcp://127.0.0.1:{port}", *where]))

    def subscriber(
        self,
        language: str,
        address: str,
        topic: str,
        agents: str,
        overflow: str,
        messages: int,
        *more: str,
    ) -> Program:
        """`more`: a file of certificates by which it verifies the peers that it reaches over TLS, if it does;
        its identity."""
        command = [*_program(language, "subscriber"), address, topic, agents, overflow, str(messages)]
        command += more
        return Program(self._run(command))

    def guarded(self, language: str, controller: str) -> Server:
        """A relay in C++, a publisher in Python, that verify the identity of subscribers."""
        name = "guarded_relay" if language == "cpp" else "guarded_publisher"
        return self._run([*_program(language, name), "tcp://127.0.0.1:0", controller])

    def hostile(self, controller: str, attack: str) -> Program:
        return Program(self._run([*_program("python", "hostile"), "tcp://127.0.0.1:0", controller, attack]))

    def controller(self, port: int = 0) -> Server:
        return self._serve("mf-controller", port)

    def relay(self, behind: str, *options: str, port: int = 0, scheme: str = "tcp") -> Server:
        """`behind`: the controller, or another relay."""
        return self._serve("mf-relay", port, "--controller", behind, *options, scheme=scheme)

    def with_stubs(self, stubs: Path) -> "Programs":
        """Of another schema; closed with this one."""
        (self._folder / stubs.name).mkdir(exist_ok=True)
        other = Programs(self._folder / stubs.name, stubs)
        other._started = self._started
        return other

    def close(self) -> None:
        for process in reversed(self._started):
            process.close()

    def _serve(self, program: str, port: int, *options: str, scheme: str = "tcp") -> Server:
        binary = BUILD / program
        assert binary.is_file(), f"{binary} is missing: cmake --build --preset release --target {program}"
        listen = f"{scheme}://127.0.0.1:{port}"
        return self._run([str(binary), "--listen", listen, "--log-level", "warning", *options])

    def _run(self, command: list[str]) -> Server:
        """Each says one line when it is ready: its address, if it has one."""
        process = Server(command, self._environment, self._folder / f"{len(self._started)}.stderr")
        self._started.append(process)
        return process


def _program(language: str, name: str) -> list[str]:
    if language == "python":
        return [sys.executable, str(HERE / "programs" / f"{name}.py")]
    of_its_own = name == "guarded_relay"
    target = name if of_its_own else "topics"
    binary = BUILD / "tests" / "topics" / target
    assert binary.is_file(), f"{binary} is missing: cmake --build --preset release --target {target}"
    return [str(binary)] if of_its_own else [str(binary), name]


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("topics")
    outcome = compile_files([str(HERE / "events.mfidl")], [], Targets(python=str(folder)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    return folder


@pytest.fixture
def programs(tmp_path: Path, stubs: Path) -> Iterator[Programs]:
    started = Programs(tmp_path, stubs)
    yield started
    started.close()
