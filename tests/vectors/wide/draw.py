"""Draws values for the vectors: boundaries of every type first, then at random from a seed.

A value is plain data: bool, int (enums, flags, timestamps and durations too), float, str, bytes (uuids too),
None, list (arrays, sets in order), list of pairs (maps in order of keys), dict (structs), (name, value)
(unions); of a custom type the bytes that its codec makes. Objects that `ref`s lead to are `Graph`s: tables of
such values, a reference the index in its table.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mfidl import model
from mfidl.model import DeclKind, Scalar, Tier

MOST_DEEP = 3
TEXTS = [
    "",
    "a",
    "h\u00e9",
    "\u20ac",
    "\U0001f600",
    "\0",
    '"\\/\b\f\n\r\t\x01\x7f',
    "\u2028",
    "x" * 127,
    "y" * 128,
]
BLOBS = [b"", b"\0", b"\xff\xfe", bytes(range(100)), b"z" * 127, b"\x80" * 128]
UUIDS = [bytes(16), b"\xff" * 16, bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")]
NANOSECONDS = [0, 1, -1, 1_000, -1_000_000, 1_500_000_000, -1_500_000_000, 30_000_000_000, 86_400_000_000_000]
NANOSECONDS += [1_795_219_323_000_000_004, -(1 << 63), (1 << 63) - 1]
DOUBLES = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e16,
    9999999999999998.0,
    1e-4,
    1e-5,
    123456.789,
    5e-324,
    2.2250738585072014e-308,
]
DOUBLES += [1.7976931348623157e308, -1e300, float("inf"), float("-inf"), float("nan"), 1 / 3]
SINGLES = [0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 16777216.0, 1e-4, 1e-5, 1.4e-45, 1.1754944e-38, 3.4028235e38]
SINGLES += [float("inf"), float("-inf"), float("nan"), 1 / 3, 65504.0]
_SIGNED_EDGES = [0, 1, -1, 63, 64, -64, -65, 127, 128, -128, -129, 255, 256, 8191, 8192, -8193, 16383, 16384]
_WIDE_EDGES = [1 << 15, 1 << 16, 1 << 21, 1 << 31, 1 << 32, 1 << 53, 1 << 63]
INTEGERS = sorted(
    {*_SIGNED_EDGES, *(sign * edge + by for edge in _WIDE_EDGES for sign in (1, -1) for by in (-1, 0))}
)
INTEGERS += [(1 << 64) - 1]
# By custom type what its codec makes of values, as schemas/custom_codec.hpp says.
CUSTOMS = {
    "vectors.custom.Runs": [
        b"",
        b"\1a",
        b"\xffz",
        b"\xffz\1z",
        b"\1a\2b",
        b"\1x\1y" * 31 + b"\1x",
        b"\1y\3x" * 32,
    ],
    "vectors.custom.Spot": [b"\0\0", b"\x63\xff", b"\1\0", b"\0\x80"],
}
WIDE = (Scalar.I16, Scalar.I32, Scalar.I64, Scalar.U16, Scalar.U32, Scalar.U64)


@dataclass(frozen=True)
class Graph:
    """`tables` as in the message of docs/proto.md: (full name, objects), the root's table first."""

    tables: tuple[tuple[str, tuple[Any, ...]], ...]


class Draw:
    def __init__(self, program: model.Program, seed: int) -> None:
        self._program = program
        self._random = random.Random(seed)
        self._round = 0

    def values(self, type_: model.Type, count: int) -> list[Any]:
        """`count` values; the first ones walk over the edges of the scalars inside."""
        made = []
        for self._round in range(count):
            made.append(self.value(type_))
        return made

    def value(self, type_: model.Type, depth: int = 0) -> Any:
        match type_:
            case model.Primitive():
                return self._edge(edges(type_.scalar))
            case model.OptionalOf(element):
                return (
                    None if depth > MOST_DEEP or self._random.random() < 0.4 else self.value(element, depth)
                )
            case model.ArrayOf(element, length):
                return [self.value(element, depth + 1) for _ in range(length)]
            case model.ListOf(element):
                return [self.value(element, depth + 1) for _ in range(self._count(element, depth))]
            case model.SetOf(element):
                return self._keys(element, depth)
            case model.MapOf(key, value):
                of_keys, of_values = self._wide(key), self._wide(value)
                if of_keys and of_values and self._random.random() < 0.05:
                    return self._blocks(of_keys, of_values)
                return [(k, self.value(value, depth + 1)) for k in self._keys(key, depth)]
            case model.Named(_, DeclKind.ENUM):
                return self._edge(_enum_edges(self._program.enum(type_)))
            case model.Named(_, DeclKind.FLAGS):
                return self._edge(_flags_edges(self._program.flags(type_)))
            case model.Named(full_name, _):
                return self._composite(self._program.declaration(full_name), depth)
            case _:
                raise AssertionError(type_)

    def _composite(self, declared: model.Declaration, depth: int) -> Any:
        assert isinstance(declared, model.Struct | model.Union)
        if declared.tier is Tier.CUSTOM:
            return self._edge(CUSTOMS[declared.full_name])
        if model.graph_tables(self._program.declarations, declared):
            return self.graph(declared)
        if isinstance(declared, model.Union):
            ended = [each for each in declared.alternatives if isinstance(each.type, model.Primitive)]
            chosen = self._random.choice(ended if depth > MOST_DEEP else list(declared.alternatives))
            return (chosen.name, self.value(chosen.type, depth + 1))
        return {field.name: self.value(field.type, depth + 1) for field in declared.fields}

    def _edge(self, among: list[Any]) -> Any:
        """Round by round the next edge, mixed with others so that neighbours differ."""
        if self._random.random() < 0.5:
            return among[self._round % len(among)]
        return self._random.choice(among)

    def _count(self, element: model.Type, depth: int) -> int:
        if depth > MOST_DEEP:
            return 0
        flat = isinstance(element, model.Primitive) and element.scalar not in (Scalar.STRING, Scalar.BYTES)
        if flat and depth <= 1 and self._random.random() < 0.08:
            return self._random.choice([63, 64, 255, 256, 257, 600, 1300])
        return self._random.choice([0, 1, 1, 2, 3, 4])

    def _keys(self, type_: model.Type, depth: int) -> list[Any]:
        count = 0 if depth > MOST_DEEP else self._random.choice([0, 1, 2, 3, 5])
        return sorted({self.value(type_, depth + 1) for _ in range(count)})

    def _wide(self, type_: model.Type) -> Scalar | None:
        """The integer of 2, 4 or 8 bytes that a type's values are, where they may be any of it."""
        match type_:
            case model.Primitive(scalar):
                base = scalar
            case model.Named(_, DeclKind.ENUM) if self._program.enum(type_).open:
                base = self._program.enum(type_).base.scalar
            case model.Named(_, DeclKind.FLAGS):
                base = self._program.flags(type_).base.scalar
            case _:
                return None
        return Scalar.I64 if base is Scalar.DURATION else base if base in WIDE else None

    def _blocks(self, key: Scalar, value: Scalar) -> list[tuple[int, int]]:
        """A map about as long as a block of 256, or longer: keys one behind the other, or from everywhere;
        values of another width every hundred entries or so.
        """
        count = self._random.choice([255, 256, 257, 300, 513])
        low, high = key.limits()
        if self._random.random() < 0.5:
            last = high - count + 1
            first = max(low, min(last, self._random.choice([0, -128, 100, (1 << 15) - 256, last])))
            keys = list(range(first, first + count))
        else:
            drawn: set[int] = set()
            while len(drawn) < count:
                drawn.add(self._within(key, self._random.choice([7, 15, 24, 31, 40, 63])))
            keys = sorted(drawn)
        widths = [self._random.choice([7, 8, 15, 16, 31, 32, 63, 64]) for _ in range(6)]
        return [(each, self._within(value, widths[place // 100])) for place, each in enumerate(keys)]

    def _within(self, scalar: Scalar, bits: int) -> int:
        """Of at most so many bits, and in the type's range."""
        low, high = scalar.limits()
        return self._random.randint(max(low, -(1 << bits)), min(high, (1 << bits) - 1))

    def graph(self, root: model.Struct | model.Union) -> Graph:
        """Up to six objects a table, in the order in which a writer numbers them."""
        names = list(model.graph_tables(self._program.declarations, root))
        sizes = {name: self._random.choice([1, 2, 3, 6]) for name in names}
        objects = {
            name: [self._object(self._program.declaration(name), sizes) for _ in range(size)]
            for name, size in sizes.items()
        }
        return numbered(self._program, names, objects)

    def _object(self, declared: model.Declaration, sizes: dict[str, int]) -> Any:
        if isinstance(declared, model.Union):
            chosen = self._random.choice(declared.alternatives)
            return (chosen.name, self._member(chosen.type, sizes))
        assert isinstance(declared, model.Struct)
        return {field.name: self._member(field.type, sizes) for field in declared.fields}

    def _member(self, type_: model.Type, sizes: dict[str, int]) -> Any:
        match type_:
            case model.RefOf(element):
                return self._random.randrange(sizes[element.full_name])
            case model.OptionalOf(element):
                return None if self._random.random() < 0.4 else self._member(element, sizes)
            case model.ListOf(element):
                return [self._member(element, sizes) for _ in range(self._random.choice([0, 1, 2, 3]))]
            case model.MapOf(key, value):
                return [(k, self._member(value, sizes)) for k in self._keys(key, 0)]
            case model.Named(full_name, DeclKind.STRUCT | DeclKind.UNION) if full_name not in CUSTOMS:
                return self._object(self._program.declaration(full_name), sizes)
            case _:
                return self.value(type_)


def edges(scalar: Scalar) -> list[Any]:
    match scalar:
        case Scalar.BOOL:
            return [True, False]
        case Scalar.F32:
            return [single(each) for each in SINGLES]
        case Scalar.F64:
            return DOUBLES
        case Scalar.STRING:
            return TEXTS
        case Scalar.BYTES:
            return BLOBS
        case Scalar.UUID:
            return UUIDS
        case Scalar.TIMESTAMP | Scalar.DURATION:
            return NANOSECONDS
        case _:
            low, high = scalar.limits()
            return [each for each in INTEGERS if low <= each <= high]


def single(number: float) -> float:
    """The f32 that is nearest."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def _enum_edges(enum: model.Enum) -> list[int]:
    known = [member.number for member in enum.members]
    return known + [each for each in edges(enum.base.scalar) if enum.open]


def _flags_edges(flags: model.Flags) -> list[int]:
    low, high = 0, (1 << flags.base.scalar.bits) - 1
    return [
        low,
        *(1 << member.bit for member in flags.members),
        sum(1 << m.bit for m in flags.members),
        4,
        high,
    ]


def numbered(program: model.Program, names: list[str], objects: dict[str, list[Any]]) -> Graph:
    """Renumbers: breadth first from the root, references in the order of field numbers; who is not reached is
    left out.
    """
    order: dict[str, list[int]] = {name: [] for name in names}
    order[names[0]].append(0)
    queue = [(names[0], 0)]

    def meet(name: str, old: int) -> int:
        if old not in order[name]:
            order[name].append(old)
            queue.append((name, old))
        return order[name].index(old)

    done: dict[tuple[str, int], Any] = {}
    for name, old in queue:  # grows while it is walked
        done[name, old] = _walked(program, model.Named(name, DeclKind.STRUCT), objects[name][old], meet)
    return Graph(tuple((name, tuple(done[name, old] for old in order[name])) for name in names))


def _walked(program: model.Program, type_: model.Type, value: Any, meet: Callable[[str, int], int]) -> Any:
    match type_, value:
        case _, None | bytes():
            return value
        case model.RefOf(element), _:
            return meet(element.full_name, value)
        case model.OptionalOf(element), _:
            return _walked(program, element, value, meet)
        case ((model.ListOf(element) | model.ArrayOf(element, _)), _):
            return [_walked(program, element, each, meet) for each in value]
        case model.MapOf(_, held), _:
            return [(key, _walked(program, held, each, meet)) for key, each in value]
        case model.Named(full_name, DeclKind.STRUCT | DeclKind.UNION), _:
            declared = program.declaration(full_name)
            if isinstance(declared, model.Union):
                chosen = next(each for each in declared.alternatives if each.name == value[0])
                return (value[0], _walked(program, chosen.type, value[1], meet))
            assert isinstance(declared, model.Struct)
            by_number = sorted(declared.fields, key=lambda field: field.number or 0)
            walked = {
                field.name: _walked(program, field.type, value[field.name], meet) for field in by_number
            }
            return {field.name: walked[field.name] for field in declared.fields}
        case _:
            return value
