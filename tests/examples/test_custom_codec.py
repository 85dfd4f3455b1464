"""examples/3_custom_codec: a user's codec, in messages of both languages and in each of the other tiers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/3_custom_codec"
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "examples/3_custom_codec"
PATH = os.pathsep.join(map(str, (BUILT / "python", EXAMPLE, ROOT / "runtime/python")))
SERVERS = {"C++": [str(BUILT / "trips-server")], "Python": [sys.executable, str(EXAMPLE / "server.py")]}
CLIENTS = {"C++": [str(BUILT / "trips-client")], "Python": [sys.executable, str(EXAMPLE / "client.py")]}
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


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_tracks_travel_between_all_languages_as_the_same_bytes(client: str, server: str) -> None:
    with serving(server) as address:
        command = [*CLIENTS[client], address]
        done = subprocess.run(
            command, env=ENVIRONMENT, capture_output=True, text=True, timeout=30, check=False
        )

    assert done.returncode == 0, done.stderr
    assert done.stdout == SHOWN


SHOWN = """\
1000 points in 2006 bytes, thinned to 100
Ann: 2 trips, the last of 1000 points, 10873 bytes, hash 0e34c5bc36b84abc
"""

FAULTS = """
import mf, track, trips
trip = trips.Trip("a", track.Track([(1, 2)]))
good = mf.to_bytes(trip)
assert mf.from_bytes(trips.Trip, good) == trip
for bad in ("80", "8000", "02", "ffffffff1f00", "ffffffffff01"):
    data = good[:2] + bytes([len(bad) // 2]) + bytes.fromhex(bad) + good[5:]
    try:
        print(mf.from_bytes(trips.Trip, data))
    except mf.DecodeError as error:
        print(error.fault.name, error.path, error.offset)
"""


def test_what_the_codec_refuses_is_told_with_its_place() -> None:
    done = python(FAULTS)

    assert done.stderr == ""
    assert set(done.stdout.splitlines()) == {"CUSTOM_CODEC_FAILED Trip.track 3"}


def test_a_value_that_the_codec_cannot_write_is_told() -> None:
    done = python("import mf, track, trips\nmf.to_bytes(trips.Trip('a', track.Track([(1 << 31, 0)])))")

    assert "mf.core.error.Error" in done.stderr.splitlines()[-1]
    assert "Trip.track" in done.stderr.splitlines()[-1]


def test_the_python_programs_pass_mypy_strict(tmp_path: Path) -> None:
    flags = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    sources = [str(EXAMPLE / name) for name in ("server.py", "client.py", "track.py")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *flags, *sources],
        env=os.environ | {"MYPYPATH": PATH},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
