"""What a service manager (systemd) hears of programs: they are ready, read files again, live, and stop."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.peers import _binary

SERVER = """
import asyncio, sys
import mf
from tests.python.conftest import AsyncRecorder, Recorder

if sys.argv[1] == "threads":
    server = mf.Server()
    server.offer(Recorder(), agent="a")
    server.run()
else:
    async def main():
        server = mf.AsyncServer()
        server.offer(AsyncRecorder(), agent="a")
        await server.serve()
    asyncio.run(main())
"""
PROGRAMS = {
    "mf-controller": [_binary("mf-controller"), "--listen", "tcp://127.0.0.1:0", "--store", "memory:"],
    "threads": [sys.executable, "-c", SERVER, "threads"],
    "asyncio": [sys.executable, "-c", SERVER, "asyncio"],
}


class Manager:
    def __init__(self, folder: Path, abstract: bool) -> None:
        name = f"mf-test-{os.getpid()}-{folder.name}" if abstract else str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + name if abstract else name)
        self._socket.settimeout(60)
        self.address = "@" + name if abstract else name

    def heard(self) -> str:
        """The next state."""
        return self._socket.recv(4096).decode()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=[False, True], ids=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    made = Manager(tmp_path, request.param)
    yield made
    made.close()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_when_it_is_ready_reloads_and_stops(program: str, manager: Manager) -> None:
    environment = {**os.environ, "NOTIFY_SOCKET": manager.address}
    running = subprocess.Popen(PROGRAMS[program], env=environment, stdout=subprocess.PIPE)
    try:
        assert manager.heard() == "READY=1"
        running.send_signal(signal.SIGHUP)
        assert [manager.heard(), manager.heard()] == ["RELOADING=1", "READY=1"]
        running.send_signal(signal.SIGTERM)
        assert manager.heard() == "STOPPING=1"
        assert running.wait(60) == 0
    finally:
        running.kill()
        running.communicate()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_under_a_watchdog_gives_signs_of_life(program: str, tmp_path: Path) -> None:
    manager = Manager(tmp_path, False)
    environment = {**os.environ, "NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000"}
    running = subprocess.Popen(PROGRAMS[program], env=environment, stdout=subprocess.PIPE)
    try:
        heard = [manager.heard() for _ in range(6)]
        assert heard.count("WATCHDOG=1") == 5
        assert heard.count("READY=1") == 1
    finally:
        running.kill()
        running.communicate()
        manager.close()


def test_a_watchdog_of_another_process_gets_no_signs(tmp_path: Path) -> None:
    manager = Manager(tmp_path, False)
    environment = {
        **os.environ,
        "NOTIFY_SOCKET": manager.address,
        "WATCHDOG_USEC": "1000",
        "WATCHDOG_PID": "1",
    }
    running = subprocess.Popen(PROGRAMS["mf-controller"], env=environment, stdout=subprocess.PIPE)
    try:
        assert manager.heard() == "READY=1"
        running.send_signal(signal.SIGTERM)
        assert manager.heard() == "STOPPING=1"
    finally:
        running.kill()
        running.communicate()
        manager.close()
