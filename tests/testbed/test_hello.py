"""examples/1_hello: each client speaks to each server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HELLO = ROOT / "examples" / "1_hello"
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release")) / "examples" / "1_hello"
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join((str(BUILT / "python"), str(ROOT / "runtime" / "python")))
}
SERVERS = {"C++": [str(BUILT / "hello-server")], "Python": [sys.executable, str(HELLO / "server.py")]}
CLIENTS = {"C++": [str(BUILT / "hello-client")], "Python": [sys.executable, str(HELLO / "client.py")]}


@contextmanager
def serving(language: str) -> Iterator[str]:
    server = subprocess.Popen(
        [*SERVERS[language], "tcp://127.0.0.1:0"], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        try:
            assert server.wait(timeout=10) == 0
        finally:
            server.kill()
            server.communicate()


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_greeted_by_a_server(client: str, server: str) -> None:
    with serving(server) as address:
        done = subprocess.run(
            [*CLIENTS[client], "reader", address], env=ENVIRONMENT, capture_output=True, text=True, timeout=30
        )

    assert done.stdout == f"Hello, reader, from {server}!\n", done.stderr
    assert done.returncode == 0
