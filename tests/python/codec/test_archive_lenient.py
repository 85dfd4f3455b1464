"""Archive messages as other writers may send them: fields in any order, numbers unpacked, lists in pieces.
They are read whether messages in parts are looked for or not, and as protobuf reads them.
"""

import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mf
from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_wire import BYTES, FIXED32, FIXED64, VARINT, tag_of
from mf.codec.archived import unknown_fields
from mf.codec.failure import CodecError, InPartsError
from mf.codec.limits import DEFAULT_LIMITS, U64_MAX, Limits
from mf.codec.lookup import codec_of
from mf.codec.varint import read_unsigned, varint
from tests.python.codec.archives import Archives, filled, taken
from tests.python.codec.directly import read, reader_of
from tests.python.codec.generated import writable
from tests.python.codec.strategies import values
from tests.python.codec.test_archive_protobuf import DECLARED, SCALARS, schema
from tests.python.codec.test_round_trips import CODECS, FILLED

UNKNOWN = b"\xf8\xff\x07\x05"  # a field of number 16,383


def leniently(shape: s.Composite, data: bytes) -> Any:
    return read(shape, data, reader_of(data, in_parts=False))


def behind(data: bytes, pos: int, wire: int) -> int:
    if wire == BYTES:
        size, pos = read_unsigned(data, pos, U64_MAX)
        return pos + size
    return read_unsigned(data, pos, U64_MAX)[1] if wire == VARINT else pos + {FIXED32: 4, FIXED64: 8}[wire]


def fields(data: bytes) -> list[tuple[int, int, bytes]]:
    """Number, wire type, and the value without its length."""
    found, pos = [], 0
    while pos < len(data):
        tag, at = read_unsigned(data, pos, U64_MAX)
        pos = behind(data, at, tag & 7)
        start = read_unsigned(data, at, U64_MAX)[1] if tag & 7 == BYTES else at
        found.append((tag >> 3, tag & 7, data[start:pos]))
    return found


def written(number: int, wire: int, value: bytes) -> bytes:
    return tag_of(number, wire) + (varint(len(value)) if wire == BYTES else b"") + value


def scrambled(data: bytes, descriptor: Any, draw: random.Random) -> bytes:
    """The same message: numbers unpacked, fields in any order, those of one number in theirs."""
    parts: dict[int, list[bytes]] = {}
    for number, wire, value in fields(data):
        field = descriptor.fields_by_number[number]
        own = parts.setdefault(number, [])
        if field.message_type is not None:
            own.append(written(number, wire, scrambled(value, field.message_type, draw)))
        elif (
            wire == BYTES and field.type not in (field.TYPE_STRING, field.TYPE_BYTES) and draw.random() < 0.7
        ):
            own += _unpacked(number, value, field)
        else:
            own.append(written(number, wire, value))
    order = [number for number, own in parts.items() for _ in own]
    draw.shuffle(order)
    return b"".join(parts[number].pop(0) for number in order)


def _unpacked(number: int, values: bytes, field: Any) -> list[bytes]:
    eight = (field.TYPE_DOUBLE, field.TYPE_FIXED64, field.TYPE_SFIXED64)
    four = (field.TYPE_FLOAT, field.TYPE_FIXED32, field.TYPE_SFIXED32)
    wire = FIXED64 if field.type in eight else FIXED32 if field.type in four else VARINT
    made, pos = [], 0
    while pos < len(values):
        end = behind(values, pos, wire)
        made.append(written(number, wire, values[pos:end]))
        pos = end
    return made


@pytest.mark.parametrize("name", [*SCALARS, *DECLARED])
def test_any_order_and_unpacked_numbers_are_the_same_value(name: str) -> None:
    codec, message = schema().codec(f"Of{name}"), schema().message(f"Of{name}")
    shape = codec.shape
    assert isinstance(shape, s.Struct)

    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(values(shape), st.integers(0, 1 << 32))
    def holds(value: Any, seed: int) -> None:
        whole = filled(message(), shape, value).SerializeToString()
        data = scrambled(whole, message.DESCRIPTOR, random.Random(seed))
        assert taken(message.FromString(data), shape) == value
        assert leniently(shape, data) == value
        assert codec.decode(data) == value
        careful = read(shape, UNKNOWN + data + UNKNOWN)
        assert leniently(shape, UNKNOWN + data + UNKNOWN) == careful
        assert unknown_fields(careful) == UNKNOWN * 2

    holds()


LOOSE = """module lenient_loose;
enum Rank: u8 { first = 1, second = 2 }
enum Zero: u8 { none = 0, some = 1 }
@tier(archive) struct In { 1: a: u32; 2: b: list<u8>; }
@tier(archive) struct All {
  1: number: u32; 2: maybe: i32?; 3: by_default: u8 = 7; 4: many: list<u32>; 5: fixed: array<u16, 2> = [8, 9];
  6: set_of: set<u8>; 7: named: map<string, u32>; 8: ranked: map<u8, Rank>; 9: inner: In?;
  10: zeros: map<Zero, Zero>; 11: held: map<u8, In>; 12: real: f64;
}
"""
BASE = "0801" + "61" + "00" * 8  # number: 1, real: 0


@pytest.fixture(scope="module")
def loose() -> Archives:
    return Archives(LOOSE)


@pytest.mark.parametrize(
    ("more", "attribute", "value"),
    [
        ("1002 1006", "maybe", 3),  # the last one counts
        ("1002 1004", "maybe", 2),
        ("1805", "by_default", 5),
        ("", "by_default", 7),
        ("2001 220302ac02 2003", "many", [1, 2, 300, 3]),
        ("2801 2802", "fixed", [1, 2]),
        ("2a0101 2802", "fixed", [1, 2]),
        ("", "fixed", [8, 9]),
        ("3005 3203010203 3003", "set_of", {1, 2, 3, 5}),
        ("3a051003 0a0161", "named", {"a": 3}),
        ("3a021003", "named", {"": 3}),
        ("3a030a0161", "named", {"a": 0}),
        ("3a050a01611003 2001 3a050a01611004", "named", {"a": 4}),
        ("5200", "zeros", {0: 0}),
    ],
)
def test_what_protobuf_allows_is_read_at_once(loose: Archives, more: str, attribute: str, value: Any) -> None:
    shape = loose.codec("All").shape
    assert isinstance(shape, s.Struct)
    data = bytes.fromhex(more + BASE)

    found = leniently(shape, data)

    assert getattr(found, attribute) == value
    assert read(shape, data) == found
    assert loose.codec("All").decode(data) == found


@pytest.mark.parametrize(
    "more",
    [
        "4a020801 4a03120101",  # one message in parts
        "8b011001 8c01",  # a group that no schema has
        "888000 01",  # a tag that is longer than needed
        "5a020801",  # an entry without its message
        "42020801",  # no member is 0
        "2a00",  # an array without elements is no default
        "0d01000000",  # another wire type
        "a306",  # a group without an end
    ],
)
def test_the_rest_is_read_or_refused_whether_parts_are_looked_for_or_not(loose: Archives, more: str) -> None:
    codec = loose.codec("All")
    assert isinstance(codec.shape, s.Struct)
    data = bytes.fromhex(more + BASE)

    assert outcome(codec.decode, data) == outcome(lambda data: read(codec.shape, data), data)


def outcome(read: Callable[[Any], Any], given: Any) -> Any:
    try:
        return read(given)
    except (mf.DecodeError, CodecError) as refused:
        return refused.fault, refused.offset


def test_damage_is_taken_only_where_a_reader_that_looks_for_parts_takes_it(loose: Archives) -> None:
    codec = loose.codec("All")
    shape = codec.shape
    assert isinstance(shape, s.Struct)
    whole = bytes.fromhex("2001 2203ac0201 3005 3a050a01611003 420408011001 1002 4a020801" + BASE)
    assert leniently(shape, whole).number == 1
    draw, count = random.Random(5), 0
    for _ in range(3_000):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 2)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        data = bytes(damaged)
        try:
            value = leniently(shape, data)
        except (CodecError, InPartsError):
            continue
        count += 1
        assert read(shape, data) == value, data.hex()
    assert count > 100


@pytest.mark.parametrize(
    "data",
    [
        b"\x20\x01" * 4_000,
        b"\x22\xa0\x1f" + b"\1" * 4_000,
        b"\x30\x05\x30\x06" * 2_000,
        b"\x3a\x00" * 2_000,
        b"\x5a\x04\x12\x02\x08\x01" * 2_000,
    ],
)
def test_an_account_is_kept_of_memory(loose: Archives, data: bytes) -> None:
    shape = loose.codec("All").shape
    data += bytes.fromhex(BASE)
    assert read(shape, data, reader_of(data, 1 << 20))
    with pytest.raises(mf.DecodeError) as caught:
        loose.codec("All").within(Limits(decoded=20_000)).decode(data)
    assert caught.value.fault is mf.Fault.BUDGET_EXCEEDED


NUMBERS = (
    "module lenient_numbers; @tier(archive) struct Numbers { 1: small: list<u32>; 2000: real: list<f64>; }"
)
SMALL, SMALL_PACKED = b"\x08\x80\x01", b"\x0a\x02\x80\x01"
REAL, REAL_PACKED = b"\x81\x7d" + bytes(8), b"\x82\x7d\x08" + bytes(8)


@pytest.fixture(scope="module")
def numbers() -> mf.codec.codec.TypeCodec[Any]:
    return Archives(NUMBERS).codec("Numbers")


def peak_of(read: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("field", [SMALL, REAL])
def test_unpacked_numbers_take_no_more_memory_than_is_charged(numbers: Any, field: bytes) -> None:
    data = field * 60_000
    reader = reader_of(data, 1 << 30)

    peak = peak_of(lambda: read(numbers.shape, data, reader))

    assert peak < (1 << 30) - reader.budget


@pytest.mark.parametrize("field", [SMALL, REAL])
def test_a_refusal_of_unpacked_numbers_takes_no_more_memory_than_there_is(numbers: Any, field: bytes) -> None:
    budget, data, one_piece = 1 << 20, field * 100_000, 1 << 17

    def refused() -> None:
        with pytest.raises(CodecError):
            read(numbers.shape, data, reader_of(data, budget))

    assert peak_of(refused) < budget + len(data) + one_piece


@pytest.mark.parametrize(
    ("data", "path", "offset"),
    [
        (SMALL * 10_000, "Numbers.small", 1),
        (REAL * 10_000, "Numbers.real", 2),
        (UNKNOWN + SMALL * 10_000 + SMALL_PACKED, "Numbers.small", 5),
        (b"\x0a\x90\x4e" + bytes(10_000), "Numbers.small", 3),
        (b"\x82\x7d\x80\xf1\x04" + bytes(80_000), "Numbers.real", 5),
    ],
)
def test_numbers_beyond_the_budget_are_refused_before_one_is_read(
    numbers: Any, data: bytes, path: str, offset: int
) -> None:
    codec = numbers.within(Limits(decoded=100_000))
    with pytest.raises(mf.DecodeError) as caught:
        codec.decode(data)

    assert (caught.value.fault, caught.value.path) == (mf.Fault.BUDGET_EXCEEDED, path)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("packed", "other"),
    [
        (SMALL_PACKED, SMALL),
        (SMALL_PACKED, b"\x88\x00\x80\x01"),  # the tag is longer than needed
        (REAL_PACKED, REAL),
    ],
)
def test_numbers_are_charged_for_once_however_they_come(numbers: Any, packed: bytes, other: bytes) -> None:
    left = []
    for pieces in ([packed] * 10_000, [other] * 10_000, [packed, other, other, other] * 2_500):
        data = b"".join(pieces)
        reader = reader_of(data)
        read(numbers.shape, data, reader)
        left.append(reader.budget)
    assert len(set(left)) == 1


@pytest.mark.parametrize(
    "data", [SMALL[:1], SMALL[:2], SMALL * 5_000 + SMALL[:2], REAL[:9], b"\x08" + b"\x80" * 10 + REAL]
)
def test_a_run_that_is_cut_off_is_refused(numbers: Any, data: bytes) -> None:
    with pytest.raises(mf.DecodeError):
        numbers.decode(data)


@pytest.mark.parametrize("name", FILLED)
def test_the_second_functions_read_what_the_first_do(name: str) -> None:
    codec = CODECS[name]

    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(values(codec.shape))
    def holds(value: Any) -> None:
        data = bytes(codec.encode(writable(codec, value)))
        assert leniently(codec.shape, data) == read(codec.shape, data) == codec.decode(data)

    holds()


def test_a_large_map_is_read() -> None:
    """Its bytes could be ten times the budget of memory, and are not."""
    values = {at - 60_000: at * 20_011 % (1 << 31) for at in range(120_000)}
    codec = codec_of(s.Map(s.I32, s.I32))
    data = codec.encode(values)
    assert sizes.memory_of(codec.shape, 1, len(data)) > DEFAULT_LIMITS.decoded

    assert codec.decode(data) == values


NESTED = """module lenient_nested;
@tier(archive) struct Tree { 1: named: map<string, Tree>; 2: listed: list<Tree>; }
"""


@pytest.mark.parametrize("field", ["named", "listed"])
def test_what_surprises_the_quick_loop_is_read_once_whatever_is_around_it(field: str) -> None:
    """Unknown fields behind each message: read twice a level, the innermost would be read 2^25 times."""
    tree = Archives(NESTED).codec("Tree")
    left = []
    for behind_each in (b"", UNKNOWN):
        data = b""
        for _ in range(25):
            inner = b"\x12" + varint(len(data)) + data + behind_each
            if field == "named":
                inner = b"\x0a\x01a" + inner  # an entry: its key, and the message as its value
                inner = b"\x0a" + varint(len(inner)) + inner
            data = inner + behind_each
        reader = reader_of(data, in_parts=False)
        read(tree.shape, data, reader)
        left.append(reader.budget)
    assert left[0] - left[1] == 25 * len(UNKNOWN) * (1 if field == "named" else 2)
