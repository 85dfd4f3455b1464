"""The sizes that `explain` prints are those of the bytes that generated code writes, and its bounds hold."""

import importlib
import itertools
import random
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.codec import shape
from mf.codec.codec import Codec
from mf.codec.lookup import codec_of
from mfidl import dynamic, model
from mfidl.compiler import check
from mfidl.dynamic.value import Repeated
from mfidl.emit.naming import camel
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from mfidl.explain import rows, sizes
from mfidl.explain.example import Examples
from mfidl.explain.febird import Febird
from mfidl.explain.measure import Measure
from mfidl.explain.values import Example
from mfidl.model import Scalar
from mfidl.plan.sizes import row_of
from tests.compiler.schema import dynamic_schema, struct_of

KINDS = (Path(__file__).parent / "golden/python/kinds/schema/kinds.mfidl").read_text()

LIMITED = """module limited;
enum Side: u8 { left = 1, right = 200 }
open enum Code: i32 { minus = -70 }
struct Packed { side: Side; number: u32; ids: array<u16, 3>; }
@tier(febird) struct Loose { side: Side; number: u32; code: Code; ids: array<u16, 300>; }
struct Texts {
  a: string @pattern("[a-z][0-9]{2,4}(foo|bar)?");
  b: string @pattern("[^x]+\\\\d") @length(5..9);
  c: string @length(300..);
  d: bytes @length(..2);
  e: map<string @length(1..2), list<u32 @range(70_000..)> @length(3..9)>;
}
struct Numbers {
  a: i16 @range(-200..-100);
  b: u64 @range(1..3);
  c: f32 @range(2.0..3.0);
  d: duration = 90s @range(1ms..1h);
  e: set<i16 @range(-200..200)> @length(100..300);
  f: set<bool>;
  g: timestamp;
  h: array<i64, 2>;
}
struct Mixed {
  p: Packed;
  l: Loose?; many: list<Packed>; by: map<Side, list<Loose>>; e: list<Empty>; t: Tree;
}
struct Tree { label: string @length(1..8); some: list<Tree> @length(..3); left: Tree?; by: map<Side, Tree>; }
struct Empty {}
error Failed { why: string; packed: Packed; }
"""

FLAGS = """module flagged;
flags Field: u16 { title = 9, body, url }
struct Marked { field: Field; all: list<Field>; by: map<string, Field>; }
union Value { 1: number: f64; 200: text: string; 3: marks: list<Marked>; }
struct Holder { value: Value; values: list<Value>; maybe: Value?; }
"""


@contextmanager
def _compiled(folder: Path, text: str) -> Iterator[tuple[model.Program, Any, Any]]:
    """The program, and the generated modules of types and codecs."""
    schema = folder / "schema.mfidl"
    schema.write_text(text)
    prefix = f"explained_{uuid.uuid4().hex}"
    outcome = check([str(schema)])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    for each in generate(outcome.program, EmitOptions(prefix)):
        (folder / each.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / each.path).write_text(each.text)
    name = outcome.program.requested[0].name
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        package = f"{prefix}.{name}"
        types, codecs = (importlib.import_module(f"{package}.{each}") for each in ("_types", "_codec"))
        yield outcome.program, types, codecs
    finally:
        sys.path.remove(str(folder))


ROWS = """module rowed;
enum Side: u16 { left = 1, right = 200, far = 300 }
struct Lists {
  a: list<u32 @range(70_000..)> @length(3..9);
  b: list<i64>;
  c: array<u16 @range(..9), 2000>;
  d: list<Side> @length(257..);
  e: set<Side>;
  f: list<duration @range(1s..2s)>;
  g: list<timestamp>;
  h: set<i16 @range(-300..300)> @length(400..500);
  i: map<u8, list<u64 @range(..255)> @length(600..601)>;
}
"""


ARCHIVES = """module archived;
enum Side: i16 { left = -1, right = 200 }
open enum Code: u64 { high = 9_000_000_000 }
flags Part: u32 { title = 9, body }
struct Point { x: f64; ok: bool; }
struct Note { text: string; numbers: list<u32>; }
union Value { 1: number: f64; 200: text: string; }
@tier(archive) struct Plain {
  1: a: bool; 2: b: u8; 3: c: i8; 40: d: i64; 5: e: f32; 6: f: timestamp; 7: g: duration; 8: h: uuid;
  9: i: string; 10: j: bytes; 11: side: Side; 12: code: Code; 13: part: Part; 14: point: Point;
  15: note: Note; 16: value: Value; 3000: k: list<i32>; 17: l: set<string>; 18: m: array<Side, 4>;
  19: n: map<string, Point>; 20: o: list<u16?>; 21: p: list<list<f64>>;
  22: q: map<u8, map<bool, u64>>?; 23: r: list<timestamp>?;
  24: s: Choice; 25: t: Deep?;
}
@tier(archive) union Choice { 3: numbers: list<u32>; 4: text: string; }
@tier(archive) struct Deep { 1: deep: Deep?; 2: many: list<Deep>; }
@tier(archive) struct Node {
  1: name: string; 2: next: ref<Node>?; 3: site: ref<Site>; 4: all: list<ref<Node>>;
}
@tier(archive) struct Site { 1: owner: ref<Node>; 2: by: map<u8, ref<Other>>; 3: link: Link; }
@tier(archive) union Link { 1: node: ref<Node>; 2: text: string; }
@tier(archive) struct Other { 1: id: u32; 2: link: ref<Link>?; }
@tier(archive) struct Lone { 1: next: ref<Other>?; }
"""


def widths(scalar: Scalar, numbers: Sequence[int], block: int) -> list[int]:
    """Of each block the bytes of its widest number."""

    def width(number: int) -> int:
        bits = (number if number >= 0 else ~number).bit_length() + scalar.is_signed
        return next(each for each in (1, 2, 4, 8) if bits <= 8 * each)

    blocks = [numbers[at : at + block] for at in range(0, len(numbers), block)]
    return [len(each) * max(map(width, each)) for each in blocks]


def row_size(scalar: Scalar, numbers: Sequence[int], block: int = 256) -> int:
    """Bytes of a list or set, as protocol.md says; for blocks of another length than the runtime's, too."""
    inside = widths(scalar, numbers, block)
    code = (inside[0] // len(numbers[:block])).bit_length() - 1 if inside else 0
    return sizes.count(len(numbers) * 4 + code) + -(-max(0, len(inside) - 1) // 4) + sum(inside)


def map_size(key: Scalar, keys: Sequence[int], value: int, block: int) -> int:
    """Bytes of a map of these keys to u16, all the same."""
    inside = [*widths(key, keys, block), *widths(Scalar.U16, [value] * len(keys), block)]
    return sizes.count(len(keys)) + len(inside) // 2 + sum(inside)


class _Values:
    """Examples as values of the generated classes."""

    def __init__(self, program: model.Program, types: Any) -> None:
        self._program = program
        self._types = types
        self._objects: dict[str, Any] = {}

    def object(self, full_name: str) -> Any:
        """What references of the type lead to: one example."""
        if full_name not in self._objects:
            declared = self._program.declaration(full_name)
            assert isinstance(declared, model.Struct | model.Union)
            example = Examples(self._program).of(declared)
            if isinstance(declared, model.Struct):
                made = self._objects[full_name] = getattr(self._types, declared.name)()
                assert isinstance(example, model.StructValue)
                for field, (_, held) in zip(declared.fields, example.fields, strict=True):
                    setattr(made, field.name, self.of(field.type, held))
            else:
                self._objects[full_name] = self._named(declared, example)
        return self._objects[full_name]

    def of(self, type_: model.Type, value: Example) -> Any:
        match type_, value:
            case model.RefOf(element), _:
                return self.object(element.full_name)
            case _, None:
                return None
            case model.OptionalOf(element), _:
                return self.of(element, value)
            case model.Named(), _:
                return self._named(self._program.declaration(type_.full_name), value)
            case model.MapOf(key, held), model.MapValue(entries):
                return {self.of(key, k): self.of(held, v) for k, v in entries}
            case ((model.ListOf() | model.ArrayOf()), Repeated(element, count)):
                return [self.of(type_.element, element)] * count
            case ((model.ListOf() | model.ArrayOf()), model.ListValue(elements)):
                return [self.of(type_.element, each) for each in elements]
            case model.SetOf(element), model.ListValue(elements):
                return {self.of(element, each) for each in elements}
            case model.Primitive(Scalar.UUID), bytes():
                return uuid.UUID(bytes=value)
            case model.Primitive(Scalar.TIMESTAMP), int():
                return mf.Timestamp(value)
            case model.Primitive(Scalar.DURATION), int():
                return mf.Duration(value)
            case _:
                return value

    def _named(self, declaration: model.Declaration, value: Example) -> Any:
        made = getattr(self._types, declaration.name)
        match declaration, value:
            case model.Struct(), model.StructValue(_, fields):
                given = dict(fields)
                held = [(each.type, given.get(each.name, each.default)) for each in declaration.fields]
                return made(*(self.of(type_, each) for type_, each in held))
            case _, model.EnumValue(number=number):
                return made(number)
            case _, model.FlagsValue(bits=bits):
                return made(bits)
            case model.Union(), model.UnionValue(_, name, held):
                chosen = next(each for each in declaration.alternatives if each.name == name)
                made = getattr(self._types, f"{declaration.name}{camel(name)}")
                return made(self.of(chosen.type, held))
            case _:
                raise AssertionError(declaration.full_name)


@pytest.mark.parametrize("schema", [KINDS, LIMITED, FLAGS, ROWS], ids=["kinds", "limited", "flags", "rows"])
def test_the_runtime_writes_an_example_in_as_many_bytes(tmp_path: Path, schema: str) -> None:
    with _compiled(tmp_path, schema) as (program, types, codecs):
        values, examples, febird = _Values(program, types), Examples(program), Febird(program)
        measure = Measure(program, examples)
        found = {each.shape.name: each for each in vars(codecs).values() if isinstance(each, Codec)}
        checked = 0
        for struct in program.requested[0].structs:
            example = examples.of(struct)
            written = found[struct.full_name].encode(values.of(struct.reference, example))
            told = measure.size(struct.reference, example)
            assert len(written) == told, struct.full_name
            bounds = febird.bounds(struct.reference)
            assert bounds.fewest <= told, struct.full_name
            assert bounds.most is None or told <= bounds.most, struct.full_name
            checked += 1
        assert checked == len(program.requested[0].structs) >= 1


def test_an_example_has_its_bytes_in_archive(tmp_path: Path) -> None:
    with _compiled(tmp_path, ARCHIVES) as (program, types, codecs):
        values, examples = _Values(program, types), Examples(program)
        measure = Measure(program, examples)
        found = {each.shape.name: each for each in vars(codecs).values() if isinstance(each, Codec)}
        told, written = {}, {}
        for each in program.requested[0].declarations:
            if isinstance(each, model.Struct | model.Union) and each.tier is model.Tier.ARCHIVE:
                told[each.name] = measure.archive(each, examples.of(each))
                written[each.name] = len(found[each.full_name].encode(values.object(each.full_name)))
        assert told == written
        assert len(told) == 8


@pytest.mark.parametrize("scalar", [each for each in Scalar if each.is_integer], ids=lambda each: each.value)
def test_an_integer_takes_what_the_runtime_takes_at_every_edge(tmp_path: Path, scalar: Scalar) -> None:
    low, high = scalar.limits()
    edges = {low, low + 1, high - 1, high, 0}
    edges |= {sign * (1 << bits) + step for bits in range(64) for step in (-1, 0, 1) for sign in (1, -1)}
    edges = {each for each in edges if low <= each <= high}
    with _compiled(tmp_path, f"module one; @tier(febird) struct One {{ x: {scalar.value}; }}") as (
        _,
        types,
        codecs,
    ):
        codec = next(each for each in vars(codecs).values() if isinstance(each, Codec))
        for each in sorted(edges):
            assert sizes.integer(scalar, each) == len(codec.encode(types.One(each))), each


@pytest.mark.parametrize("scalar", [each for each in Scalar if each.is_integer], ids=lambda each: each.value)
def test_the_histogram_counts_every_value_once(scalar: Scalar) -> None:
    least, most = scalar.limits()
    for low, high in ((least, most), (max(least, -200), min(most, 300)), (5, 5), (max(least, -65), 64)):
        counted = sizes.histogram(scalar, low, high)
        assert sum(count for _, count in counted) == high - low + 1
        if high - low < 1000:
            every = [sizes.integer(scalar, value) for value in range(low, high + 1)]
            assert counted == sorted((size, every.count(size)) for size in set(every))
        assert sizes.extremes(scalar, low, high) == (counted[0][0], counted[-1][0])


@pytest.mark.parametrize("scalar", [each for each in Scalar if each.is_integer and each.bits > 8])
def test_a_row_takes_what_the_runtime_takes(scalar: Scalar) -> None:
    low, high = scalar.limits()
    codec = codec_of(shape.List(shape.Scalar(scalar.value)))
    for count in (0, 1, 31, 32, 256, 257, 1024, 1281):
        for edge in (0, 127, 128, 255, 256, low, high):
            numbers = [0] * max(0, count - 1) + [edge] * min(count, 1)
            assert row_size(scalar, numbers) == len(codec.encode(numbers))
        if count:
            top = (scalar.bits // 8).bit_length() - 1
            assert rows.bound(top, count, counted=True) == len(codec.encode([high] * count))


@pytest.mark.parametrize(
    ("text", "low", "high", "counts"),
    [
        ("i16", -200, 300, (0, 1, 256, 257, 300, 500)),
        ("i16", -1000, 130, (256, 257, 300, 900)),
        ("u16", 0, 700, (255, 256, 257, 700)),
        ("u16", 200, 1000, (1, 56, 57, 300, 801)),
        ("i32", -33_000, -32_000, (1, 256, 600, 1000)),
    ],
)
def test_no_neighbours_take_fewer_bytes_than_is_told(
    tmp_path: Path, text: str, low: int, high: int, counts: tuple[int, ...]
) -> None:
    with _compiled(tmp_path, f"module one; struct One {{ x: set<{text} @range({low}..{high})>; }}") as (
        program,
        _,
        _,
    ):
        field = program.requested[0].structs[0].fields[0]
        assert isinstance(field.type, model.SetOf)
        for count in counts:
            told = rows.fewest_of_set(program, field.type.element, field.type.constraints, count)
            every = [
                row_size(Scalar(text), range(first, first + count)) for first in range(low, high - count + 2)
            ]
            assert told == min(every)
            most = rows.most_of_set(program, field.type.element, field.type.constraints, count)
            assert most is not None
            assert most >= max(every)


MAPS = """module mapped;
enum Side: i16 { left = -300, near = -1, right = 200, far = 300 }
open enum Code: u64 { high = 9_000_000_000 }
flags Part: u32 { title = 20, body }
struct Narrow { m: map<u16, u16>; }
struct Mixed { m: map<i32, u64>; }
struct Marked { m: map<Code, Side>; }
struct Waits { m: map<u32, duration>; }
struct Parts { m: map<i64, Part>; }
struct Signed { m: map<i16 @range(-300..400), i16 @range(-128..200)> @length(3..600); }
struct Above { m: map<u16 @range(200..1000), u32 @range(300..70_000)> @length(257..700); }
struct Below { m: map<i64 @range(-40_000..-32_000), i64> @length(1..1000); }
struct Few { m: map<i32 @range(-128..127), Side> @length(..256); }
struct Sides { m: map<Side, u16 @range(..255)> @length(2..); }
struct Any { m: map<u64, duration @range(1s..2s)>; }
struct Pairs { m: map<u8, u32> @length(3..9); }
"""


@pytest.mark.parametrize("count", [0, 1, 3, 256, 257, 600])
@pytest.mark.parametrize("name", ["Narrow", "Mixed", "Marked", "Waits", "Parts"])
def test_a_map_of_integers_has_the_bytes_that_are_written(name: str, count: int) -> None:
    schema, draw = dynamic_schema(MAPS), random.Random(f"{name} {count}")
    struct = struct_of(schema.program, f"mapped.{name}")
    for keys in (range(count), draw.sample(range(65_536), count)):
        for values in ((-1,), (-300, -1, 200, 300)) if name == "Marked" else ((1,), range(300), (60_000,)):
            given = {key: draw.choice(values) for key in keys}
            example = model.MapValue(tuple(_entry(name, *each) for each in given.items()))
            told = Measure(schema.program, Examples(schema.program)).size(
                struct.reference, model.StructValue(struct.full_name, (("m", example),))
            )
            assert told == len(dynamic.encode(schema, struct.full_name, {"m": given}))


def _entry(name: str, key: int, value: int) -> tuple[Example, Example]:
    match name:
        case "Marked":
            side = model.EnumValue("mapped.Side", "", value)
            return model.EnumValue("mapped.Code", "", key), side
        case "Parts":
            return key, model.FlagsValue("mapped.Part", (), value)
        case _:
            return key, value


@pytest.mark.parametrize(
    ("name", "keys", "values", "counts"),
    [
        ("Signed", range(-300, 401), (-128, 127, 128, 200), range(3, 601)),
        ("Above", range(200, 1001), (300, 65_536, 70_000), range(257, 701)),
        ("Below", range(-40_000, -31_999), (-1, 0, -(1 << 63)), range(1, 1001)),
        ("Few", range(-128, 128), (-300, -1, 200, 300), range(257)),
        ("Sides", (-300, -1, 200, 300), (0, 255), range(2, 5)),
        ("Any", (0, 255, 256, (1 << 64) - 1), (1_000_000_000, 2_000_000_000), range(5)),
        ("Pairs", range(256), (0, (1 << 32) - 1), range(3, 10)),
    ],
)
def test_no_map_of_integers_leaves_its_bounds(
    name: str, keys: range | tuple[int, ...], values: tuple[int, ...], counts: range
) -> None:
    schema, draw = dynamic_schema(MAPS), random.Random(name)
    bounds = Febird(schema.program).bounds(struct_of(schema.program, f"mapped.{name}").reference)
    found = set()

    def written(chosen: list[int] | range | tuple[int, ...], held: tuple[int, ...]) -> int:
        entries = {key: draw.choice(held) for key in chosen}
        return len(dynamic.encode(schema, f"mapped.{name}", {"m": entries}))

    for _ in range(100):
        found.add(written(draw.sample(keys, draw.choice(counts)), values))
    narrow = min(values, key=lambda each: (each.bit_length(), -each))
    runs = range(0, len(keys) - counts[0] + 1, max(1, len(keys) // 800))
    found |= {written(keys[at : at + counts[0]], (narrow,)) for at in runs}
    assert bounds.fewest == min(found)
    assert bounds.most is None or bounds.most >= max(found)
    assert (bounds.most is None) == (name == "Any")


@pytest.mark.parametrize(
    ("name", "most"), [("Few", 1 + 2 + 256 + 512), ("Signed", 2 + 3 + 1200 + 1200), ("Sides", 2 + 8 + 4)]
)
def test_the_most_bytes_of_a_map_of_integers(name: str, most: int) -> None:
    program = dynamic_schema(MAPS).program
    assert Febird(program).bounds(struct_of(program, f"mapped.{name}").reference).most == most


@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("i16 @range(-131..-125)", range(-131, -124)),
        ("i16 @range(124..130)", range(124, 131)),
        ("u32 @range(253..259)", range(253, 260)),
        ("Steep", (-40_000, -200, -129, -128, 127, 128, 200, 40_000)),
        ("Left", (-40_000, -39_999, -200, -129, -128, -1, 0)),
    ],
)
def test_no_choice_of_keys_takes_fewer_or_more_bytes_than_is_told(
    monkeypatch: pytest.MonkeyPatch, block: int, key: str, keys: range | tuple[int, ...]
) -> None:
    """Every choice there is, with blocks so short that a few keys fill some."""
    program = dynamic_schema(
        "module one;"
        " enum Steep: i32 { a = -40000, b = -200, c = -129, d = -128, e = 127, f = 128, g = 200, h = 40000 }"
        " enum Left: i64 { a = -40000, b = -39999, c = -200, d = -129, e = -128, f = -1, g = 0 }"
        f" struct One {{ s: set<{key}>; m: map<{key}, u16 @range(200..300)>; }}"
    ).program
    set_, map_ = (each.type for each in struct_of(program, "one.One").fields)
    assert isinstance(set_, model.SetOf)
    assert isinstance(map_, model.MapOf)
    scalar = row_of(set_.element, program.declarations)
    assert scalar is not None
    monkeypatch.setattr(rows, "BLOCK", block)
    widest_set, widest_map = 0, 0
    for count in range(len(keys) + 1):
        of_sets, of_narrow, of_wide = [], [], []
        for chosen in itertools.combinations(keys, count):
            of_sets.append(row_size(scalar, chosen, block))
            of_narrow.append(map_size(scalar, chosen, 200, block))
            of_wide.append(map_size(scalar, chosen, 300, block))
        assert rows.fewest_of_set(program, set_.element, set_.constraints, count) == min(of_sets)
        assert rows.fewest_of_map(program, map_, count) == min(of_narrow)
        widest_set, widest_map = max(widest_set, *of_sets), max(widest_map, *of_wide)
        told = rows.most_of_set(program, set_.element, set_.constraints, count)
        assert told is not None
        assert told >= widest_set
        told = rows.most_of_map(program, map_, count)
        assert told is not None
        assert told >= widest_map


def test_a_default_of_a_map_is_measured_as_it_ascends() -> None:
    default = ", ".join(f"{key}: 1" for key in (300, *range(299)))
    schema = dynamic_schema(f"module one; struct One {{ m: map<u16, u16> = {{{default}}}; }}")
    struct = struct_of(schema.program, "one.One")
    examples = Examples(schema.program)
    told = Measure(schema.program, examples).size(struct.reference, examples.of(struct))
    assert told == len(dynamic.encode(schema, "one.One", {"m": dict.fromkeys((*range(299), 300), 1)}))
