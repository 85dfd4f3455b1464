"""Python's decoders and hostile bytes: every vector cut off everywhere and changed at random, and a few bytes
that claim to be large or deep. Must hold: a DecodeError within the bytes, or a value that is written and read
again as itself; and never more memory than the bytes deserve.

`make test` tries a sample; with MF_FUZZ_RUNS set, as `make fuzz` does, every beginning and so many changes.
"""

import importlib
import json
import os
import random
import tracemalloc
from functools import cache
from typing import Any

import pytest

import mf
from mf.codec.codec import Codec
from mf.protocol.calls import Request
from mf.protocol.client_session import ClientSession
from mf.protocol.events import DataReceived
from mf.protocol.frame import pack
from mf.protocol.handshake import Hello, pack_bind
from mf.protocol.server_session import ServerSession
from mf.protocol.state import State
from mf.protocol.stream import Incoming
from tests.fuzz.in_python.harness import changed
from tests.python.codec.generated import VECTORS, codec_of, codecs, writable

RUNS = int(os.environ.get("MF_FUZZ_RUNS", "0"))
SAMPLE_OF_VECTORS = 200
SAMPLE_OF_CHANGES = 2000
SEED = 20_261_121
MOST_MEMORY = 1 << 20  # that refusing a few bytes may take, caches of compiled codecs aside

TIERS = ("memcpy", "febird", "archive", "custom")


@cache
def vectors(tier: str) -> list[tuple[Codec[Any, Any], bytes]]:
    """Of custom all of custom.mfidl, whose other tiers are there for what they hold."""
    found = []
    for path in sorted(VECTORS.glob("codec/*.json")) + sorted(VECTORS.glob("wide/*.json")):
        if path.name in ("types.json", "sizes.json"):  # descriptors and facts of types, no values
            continue
        for each in json.loads(path.read_text()):
            schema = each.get("schema", "wide.mfidl")
            of = "custom" if schema == "custom.mfidl" else each["tier"]
            if of == tier and "fault" not in each:
                codec = codec_of(schema, each.get("type") or each["method"])
                found.append((codec, bytes.fromhex(each["hex"])))
    return found


def sample(tier: str) -> list[tuple[Codec[Any, Any], bytes]]:
    found = vectors(tier)
    return found if RUNS else found[:: max(1, len(found) // SAMPLE_OF_VECTORS)]


def is_read(codec: Codec[Any, Any], data: bytes) -> bool:
    """Whether the bytes are a value. If they are, it must be the same after another round."""
    value, error = attempt(codec, data)
    if isinstance(error, mf.DecodeError):
        assert error.fault is not mf.Fault.NONE
        assert 0 <= error.offset <= len(data), (error, data.hex())
        return False
    if error is not None:
        assert error.code is mf.Code.INVALID_ARGUMENT, (error, data.hex())  # a constraint of the schema
        return False
    once = codec.encode(writable(codec, value))
    again = codec.encode(writable(codec, codec.decode(once)))
    assert again == once, data.hex()
    return True


def attempt(codec: Codec[Any, Any], data: bytes) -> tuple[Any, mf.Error | None]:
    try:
        return codec.decode(data), None
    except mf.Error as error:
        return None, error


@pytest.mark.fuzz
@pytest.mark.timeout(0 if RUNS else 120)
@pytest.mark.parametrize("tier", TIERS)
def test_every_beginning_of_a_value_is_refused(tier: str) -> None:
    """Of an archive a beginning may be a value, with fewer fields; of custom, if its codec takes it."""
    draw = random.Random(SEED)
    refused = read = 0
    for codec, data in sample(tier):
        sizes = range(len(data)) if RUNS else draw.sample(range(len(data)), min(8, len(data)))
        for size in sizes:
            if is_read(codec, data[:size]):
                read += 1
            else:
                refused += 1

    assert refused > SAMPLE_OF_VECTORS
    assert read == 0 or tier in ("archive", "custom")


@pytest.mark.fuzz
@pytest.mark.timeout(0 if RUNS else 120)
@pytest.mark.parametrize("tier", TIERS)
def test_changed_bytes_are_refused_or_another_value(tier: str) -> None:
    draw = random.Random(SEED)
    found = vectors(tier)
    runs = RUNS or SAMPLE_OF_CHANGES
    read = sum(is_read(codec, changed(data, draw)) for codec, data in draw.choices(found, k=runs))

    assert 0 < read < runs


WIDE = "wide.mfidl"

# Type, bytes, fault: a few bytes that claim to be very many.
LARGE = [
    ("FebirdString", "ffffffff0f", "COUNT_TOO_LARGE"),
    ("FebirdString", "00 00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("FebirdBytes", "ffffffff0f 00", "COUNT_TOO_LARGE"),
    ("FebirdU64", "00 00 fcffffff3f", "COUNT_TOO_LARGE"),
    ("FebirdU64", "00 00 ffffffff3f", "COUNT_TOO_LARGE"),
    ("FebirdU64", "00 00 80808080808001", "NUMBER_OUT_OF_RANGE"),
    ("FebirdU8", "00 00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("FebirdBool", "00 00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("FebirdF64", "0000000000000000 00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("FebirdTimestamp", "0000000000000000 00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("FebirdUuid", "00" * 17 + "ffffffff0f", "COUNT_TOO_LARGE"),
    ("Tree", "00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("Tree", "00 00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("Nested", "ffffffff0f", "COUNT_TOO_LARGE"),
    ("Nested", "00 ffffffff0f", "COUNT_TOO_LARGE"),
    ("Value", "03 ffffffff0f", "COUNT_TOO_LARGE"),
    ("Value", "c801 ffffffff0f", "COUNT_TOO_LARGE"),
]

# Type, bytes of 64 levels, bytes of 65.
DEEP = [
    ("Tree", "00000001" * 62 + "00000000", "00000001" * 63 + "00000000"),
    ("Value", "c80101" * 31 + "c80100", "c80101" * 32 + "c80100"),
    ("Tree", "0001" * 31 + "00000000" + "0000" * 31, "0001" * 32 + "00000000" + "0000" * 32),
]


@pytest.fixture(scope="module", autouse=True)
def wide() -> None:
    codecs(WIDE)
    importlib.import_module("vectors.wide")


def refusal(type_: str, data: str) -> mf.DecodeError:
    with pytest.raises(mf.DecodeError) as caught:
        codec_of(WIDE, f"vectors.wide.{type_}").decode(bytes.fromhex(data))
    return caught.value


@pytest.mark.parametrize(("type_", "data", "fault"), LARGE)
def test_what_claims_to_be_large_is_refused_before_it_is_allocated(type_: str, data: str, fault: str) -> None:
    refusal(type_, data)  # compiles the codec
    tracemalloc.start()
    refused = refusal(type_, data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert refused.fault is mf.Fault[fault]
    assert peak < MOST_MEMORY


@pytest.mark.parametrize(("type_", "fits", "too_deep"), DEEP)
def test_sixty_four_levels_are_read_and_no_more(type_: str, fits: str, too_deep: str) -> None:
    codec = codec_of(WIDE, f"vectors.wide.{type_}")

    assert codec.encode(codec.decode(bytes.fromhex(fits))) == bytes.fromhex(fits)
    assert refusal(type_, too_deep).fault is mf.Fault.DEPTH_EXCEEDED


FRAMES = [
    vector
    for vector in json.loads((VECTORS / "frames.json").read_text())
    if not vector["name"].startswith("hello-of")
]


def fed(session: ClientSession | ServerSession, data: bytes) -> list[Any]:
    events = []
    while data:
        window = session.window()
        taken = min(len(window), len(data))
        window[:taken] = data[:taken]
        events += session.received(taken)
        data = data[taken:]
    return events


def session_for(vector: dict[str, Any]) -> ClientSession | ServerSession:
    """One that is open and has calls 1 to 9 under way, at a server one binding of 16 routes too."""
    hello = Hello(nonce=bytes(16), max_in_flight=100)
    if vector["role"] == "server":
        server = ServerSession(hello, bytearray(4096), lambda bind: [bind.first] * len(bind.methods))
        fed(server, pack(1, Hello(nonce=bytes(16)).pack()))
        fed(server, pack(3, pack_bind(bytes(16), "s", "", tuple(f"m{i}" for i in range(16)))))
        for id_ in range(1, 10):
            fed(server, pack(5, flags=0x81, route=id_, id_=id_, count=1))
        return server
    client = ClientSession(hello, bytearray(4096))
    fed(client, pack(1, hello.pack()))
    for _ in range(9):
        client.request(Request(1.0), 0x81, 0, 1, b"")
    return client


@pytest.mark.fuzz
@pytest.mark.timeout(0 if RUNS else 120)
@pytest.mark.parametrize("vector", FRAMES, ids=lambda vector: vector["name"])
def test_changed_frames_are_events_or_the_end_of_the_session(vector: dict[str, Any]) -> None:
    draw = random.Random(SEED)
    data = bytes.fromhex(vector["hex"])
    for _ in range(RUNS or 30):
        session = session_for(vector)
        streams: dict[int, Incoming] = {}
        for event in fed(session, changed(data, draw)):
            if isinstance(event, DataReceived):
                stream = streams.setdefault(event.id, Incoming(1 << 14, 1, 1 << 16, metadata=True))
                if stream.arrived(event) is None:
                    taken = stream.take()
                    assert taken is not None
                    assert taken[2] >= 16

        assert session.state in (State.OPEN, State.DRAINING, State.CLOSED)
        assert session.window()
