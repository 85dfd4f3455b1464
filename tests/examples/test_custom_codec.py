"""examples/3_custom_codec: a user's codec, in messages of both languages and in each of the other tiers."""

import sys

import pytest

from tests.conftest import TypeCheck
from tests.examples.programs import LANGUAGES, Example

EXAMPLE = Example("3_custom_codec", "trips")


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_tracks_travel_between_all_languages_as_the_same_bytes(client: str, server: str) -> None:
    with EXAMPLE.serving(server) as address:
        done = EXAMPLE.run([*EXAMPLE.program("client", client), address])

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
    done = EXAMPLE.run([sys.executable, "-c", FAULTS])

    assert done.stderr == ""
    assert set(done.stdout.splitlines()) == {"CUSTOM_CODEC_FAILED Trip.track 3"}


def test_a_value_that_the_codec_cannot_write_is_told() -> None:
    code = "import mf, track, trips\nmf.to_bytes(trips.Trip('a', track.Track([(1 << 31, 0)])))"
    done = EXAMPLE.run([sys.executable, "-c", code])

    assert "mf.core.error.InvalidArgument" in done.stderr.splitlines()[-1]
    assert "Trip.track" in done.stderr.splitlines()[-1]


def test_the_python_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict(
        [EXAMPLE.folder / name for name in ("server.py", "client.py", "track.py")], EXAMPLE.path
    )
