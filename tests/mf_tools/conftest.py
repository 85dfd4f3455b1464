"""The shop of shop.mfidl as a process, alone and behind a controller and a relay."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf_tools.guard import guarded
from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import BUILD, PATIENCE, Server

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Peers:
    """Starts processes, and ends them with the test or module."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
        self._environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self._started: list[Server] = []

    def shop(self, listen: str = "tcp://127.0.0.1:0", controller: str = "", access: str = "") -> Server:
        program = str(HERE / "programs" / "shop_server.py")
        return self.run([sys.executable, program, listen, controller, access])

    def ledger(self, controller: str) -> Server:
        return self.run([sys.executable, str(HERE / "programs" / "ledger_server.py"), controller])

    def controller(self, *options: str, listen: str = "tcp://127.0.0.1:0") -> Server:
        return self._serve("mf-controller", "--store", "memory:", "--listen", listen, *options)

    def relay(self, behind: str, *options: str) -> Server:
        return self._serve("mf-relay", "--listen", "tcp://127.0.0.1:0", "--controller", behind, *options)

    def _serve(self, program: str, *options: str) -> Server:
        binary = BUILD / program
        assert binary.is_file(), f"{binary} is missing: cmake --build --preset release --target {program}"
        return self.run([str(binary), "--log-level", "warning", *options])

    def run(self, command: list[str], **environment: str) -> Server:
        """Each says its address when it is ready."""
        process = Server(
            command, self._environment | environment, self._folder / f"{len(self._started)}.stderr"
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self._started):
            process.close()


class Tool:
    """Runs commands. `out`, `err`, `code`: of the latest one."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.out = self.err = ""
        self.code = 0
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        for name in ("MF_WHERE", "MF_CONTEXT", "MF_DEBUG"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.chdir(folder)

    def at(self, address: str) -> "Tool":
        """Where commands go that say nothing else."""
        self._monkeypatch.setenv("MF_WHERE", address)
        return self

    def run(self, *arguments: str, given: str | bytes = "") -> str:
        """Standard output. `given`: standard input."""
        data = given.encode() if isinstance(given, str) else given
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        self._capsys.readouterr()
        self.code = guarded(arguments)
        self.out, self.err = self._capsys.readouterr()
        return self.out

    def well(self, *arguments: str, given: str | bytes = "") -> str:
        self.run(*arguments, given=given)
        assert self.code == 0, self.err
        return self.out

    def json(self, *arguments: str, given: str | bytes = "") -> Any:
        return json.loads(self.well(*arguments, "--json", given=given))

    def fails(self, code: int, *arguments: str, given: str | bytes = "") -> str:
        """Its one line on standard error."""
        self.run(*arguments, given=given)
        assert self.code == code, (self.code, self.out, self.err)
        assert self.err.startswith("mf: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("mf: ").rstrip("\n")

    def process(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        """The tool as a process of its own, with the settings of this one."""
        path = os.pathsep.join(map(str, (ROOT / "cli", ROOT / "runtime" / "python")))
        environment = os.environ | {"PYTHONPATH": path} | options.pop("env", {})
        pipes = {name: options.pop(name, subprocess.PIPE) for name in ("stdin", "stdout", "stderr")}
        command = [sys.executable, "-m", "mf_tools", *arguments]
        return subprocess.Popen(command, env=environment, start_new_session=True, **pipes, **options)


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    outcome = compile_files(
        [str(HERE / "shop.mfidl"), str(HERE / "ledger.mfidl")], [], Targets(python=str(folder))
    )
    assert outcome.exit == Exit.OK, outcome.diagnostics
    return folder


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory, stubs: Path) -> Iterator[Peers]:
    """For the tests of a module, which share what it starts."""
    started = Peers(tmp_path_factory.mktemp("peers"), stubs)
    yield started
    started.close()


@pytest.fixture(scope="module")
def shop(peers: Peers) -> Server:
    """Without a controller."""
    return peers.shop()


@pytest.fixture(scope="module")
def controller(peers: Peers) -> Server:
    return peers.controller()


@pytest.fixture(scope="module")
def registered(peers: Peers, controller: Server) -> Server:
    """A shop that is registered at the controller."""
    started = peers.shop(controller=controller.address)
    with mf.Client(controller.address, wait_for_server=PATIENCE) as client:
        client.describe("shop.News", topic=True, deadline=PATIENCE)
        client.describe("shop.Sales", agent="books", topic=True, deadline=PATIENCE)
        client.describe("shop.Shop", agent="maps", deadline=PATIENCE)
        client.describe("shop.Clock", deadline=PATIENCE)
    return started


@pytest.fixture
def tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Tool]:
    """The tool within this process, with contexts of its own, and a folder to work in."""
    level = logging.getLogger("mf").level
    yield Tool(tmp_path, monkeypatch, capsys)
    logging.getLogger("mf").setLevel(level)
