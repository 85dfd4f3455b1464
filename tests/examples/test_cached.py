"""examples/6_cached: how many requests the same calls make without and with a cache, crosswise."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/6_cached"
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "examples/6_cached"
PATH = os.pathsep.join(map(str, (BUILT / "python", ROOT / "runtime/python")))
SERVERS = {"C++": [str(BUILT / "ids-server")], "Python": [sys.executable, str(EXAMPLE / "server.py")]}
CLIENTS = {"C++": [str(BUILT / "ids-client")], "Python": [sys.executable, str(EXAMPLE / "client.py")]}
ENVIRONMENT = os.environ | {"PYTHONPATH": PATH}


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
def test_what_is_cached_makes_a_request_a_name_and_one_after_it_was_forgotten(
    client: str, server: str
) -> None:
    with serving(server) as address:
        done = subprocess.run(
            [*CLIENTS[client], "1000", address],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert [re.sub(r" +[0-9.]+$", "", line) for line in done.stdout.splitlines()] == [
        "1000 calls                 requests   us a call",
        "look_up                       1000",
        "collection_id, cached            4",
        "books was forgotten              1",
        "1995 hits, 5 misses, 4 entries",
    ]


def test_the_python_programs_pass_mypy_strict(tmp_path: Path) -> None:
    flags = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    for source in ("server.py", "client.py"):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *flags, str(EXAMPLE / source)],
            env=os.environ | {"MYPYPATH": PATH},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
