"""The shop of shop.mfidl as a process, alone and behind a controller and a relay."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import BUILD, Server

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Peers:
    """Starts processes, and ends them with the test or module."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
        self._environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self._started: list[Server] = []

    def shop(self, listen: str = "tcp://127.0.0.1:0", controller: str = "") -> Server:
        program = str(HERE / "programs" / "shop_server.py")
        return self.run([sys.executable, program, listen, *([controller] if controller else [])])

    def controller(self, *options: str, listen: str = "tcp://127.0.0.1:0") -> Server:
        return self._serve("mf-controller", "--listen", listen, *options)

    def relay(self, behind: str, *options: str) -> Server:
        return self._serve("mf-relay", "--listen", "tcp://127.0.0.1:0", "--controller", behind, *options)

    def _serve(self, program: str, *options: str) -> Server:
        binary = BUILD / program
        assert binary.is_file(), f"{binary} is missing: cmake --build --preset release --target {program}"
        return self.run([str(binary), "--log-level", "warning", *options])

    def run(self, command: list[str]) -> Server:
        """Each says its address when it is ready."""
        process = Server(command, self._environment, self._folder / f"{len(self._started)}.stderr")
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self._started):
            process.close()


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    outcome = compile_files([str(HERE / "shop.mfidl")], [], Targets(python=str(folder)))
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
    """A shop behind the controller."""
    return peers.shop(controller=controller.address)
