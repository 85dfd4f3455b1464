"""The layout rule and the choice of tiers, against offsets worked out by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfidl import model
from mfidl.model import Primitive, Scalar, Tier
from mfidl.plan.layout import lay_out
from tests.compiler.schema import program_of, struct_of


def layout_of(folder: Path, fields: str, more: str = "") -> model.Layout:
    layout = struct_of(program_of(folder, f"module m; {more} struct A {{ {fields} }}"), "m.A").layout
    assert layout is not None
    return layout


@pytest.mark.parametrize(
    ("fields", "size", "align", "offsets", "padding"),
    [
        ("", 0, 1, [], []),
        ("a: u8; b: u64; c: f32;", 24, 8, [0, 8, 16], [(1, 7), (20, 4)]),
        ("a: u32; b: u64;", 16, 8, [0, 8], [(4, 4)]),
        ("a: bool; b: bool; c: u16;", 4, 2, [0, 1, 2], []),
        ("a: u16; b: u8;", 4, 2, [0, 2], [(3, 1)]),
        ("a: uuid; b: u8;", 17, 1, [0, 16], []),
        ("a: u8; b: timestamp; c: duration;", 24, 8, [0, 8, 16], [(1, 7)]),
        ("a: u8; b: array<u16, 3>; c: u8;", 10, 2, [0, 2, 8], [(1, 1), (9, 1)]),
        ("a: u8; b: E; c: u8;", 6, 2, [0, 2, 4], [(1, 1), (5, 1)]),
        ("a: u8; b: Inner; c: u8;", 24, 8, [0, 8, 16], [(1, 7), (17, 7)]),
        ("a: u8; b: array<Pair, 2>; c: u8;", 24, 4, [0, 4, 20], [(1, 3), (21, 3)]),
        ("a: u8; b: Nothing; c: u8;", 2, 1, [0, 1, 1], []),
    ],
)
def test_a_layout_is_the_same_everywhere(
    tmp_path: Path,
    fields: str,
    size: int,
    align: int,
    offsets: list[int],
    padding: list[tuple[int, int]],
) -> None:
    more = "enum E: u16 { a = 0 } struct Inner { x: f64; } struct Pair { x: u32; y: u8; } struct Nothing { }"
    found = layout_of(tmp_path, fields, more)
    assert (found.size, found.align) == (size, align)
    assert [slot.offset for slot in found.slots] == offsets
    assert [(run.offset, run.size) for run in found.padding] == padding


UNION = "it is a union, whose size depends on the alternative"
DEEP = "`Deep`, which is febird because field `s` is a string, which has no fixed size"
_FIXED = [scalar for scalar in Scalar if scalar not in (Scalar.STRING, Scalar.BYTES)]


@given(st.lists(st.sampled_from(_FIXED), max_size=20))
def test_slots_and_padding_cover_a_layout_exactly_once(scalars: list[Scalar]) -> None:
    fields = [model.Field(f"f{i}", Primitive(s), Primitive(s)) for i, s in enumerate(scalars)]
    layout = lay_out(fields, {})
    assert layout is not None
    covered = [0] * layout.size
    runs = [*((s.offset, s.size) for s in layout.slots), *((p.offset, p.size) for p in layout.padding)]
    for offset, size in runs:
        for at in range(offset, offset + size):
            covered[at] += 1
    assert covered == [1] * layout.size
    assert layout.size % layout.align == 0
    assert all(slot.offset % slot.align == 0 for slot in layout.slots)
    assert sum(run.size for run in layout.padding) < 8 * (len(scalars) + 1)


@pytest.mark.parametrize(
    ("fields", "tier", "reason"),
    [
        ("x: u32;", Tier.MEMCPY, "every field has a fixed size"),
        ("", Tier.MEMCPY, "it has no fields"),
        ("x: u32?;", Tier.FEBIRD, "field `x` may be absent"),
        ("x: list<u8>;", Tier.FEBIRD, "field `x` is a list, which has no fixed size"),
        ("x: set<u8>;", Tier.FEBIRD, "field `x` is a set, which has no fixed size"),
        ("x: map<u8, u8>;", Tier.FEBIRD, "field `x` is a map, which has no fixed size"),
        ("x: bytes;", Tier.FEBIRD, "field `x` is a bytes, which has no fixed size"),
        ("x: array<u8?, 2>;", Tier.FEBIRD, "field `x` is an array whose element may be absent"),
        ("x: Asked;", Tier.FEBIRD, "field `x` is `Asked`, which is febird because the file asks for it"),
        ("x: array<F, 2>; e: E;", Tier.MEMCPY, "every field has a fixed size"),
        ("x: U;", Tier.FEBIRD, f"field `x` is `U`, which is febird because {UNION}"),
        ("x: Stored;", Tier.FEBIRD, "field `x` is `Stored`, which is archive because the file asks for it"),
        ("x: Geo;", Tier.FEBIRD, "field `x` is `Geo`, which is custom because the file names its codec"),
        ("x: array<Deep, 2>;", Tier.FEBIRD, f"field `x` is an array whose element is {DEEP}"),
    ],
)  # fmt: skip
def test_the_compiler_chooses_the_fastest_tier_and_says_why(
    tmp_path: Path, fields: str, tier: Tier, reason: str
) -> None:
    more = (
        "@tier(febird) struct Asked { x: u8; } flags F: u8 { a } enum E: u8 { a = 0 } union U { a: u8; }"
        '@tier(archive) struct Stored { 1: x: u8; } @tier(custom) @python.codec("g:C") struct Geo;'
        "struct Deep { x: u8; s: string; }"
    )
    plan = struct_of(program_of(tmp_path, f"module m; {more} struct A {{ {fields} }}"), "m.A").plan
    assert (plan.tier, plan.reason) == (tier, reason)


@pytest.mark.parametrize(
    ("declaration", "tier", "reason"),
    [
        ("@tier(memcpy) struct A { x: u8; }", Tier.MEMCPY, "every field has a fixed size"),
        ("@tier(febird) struct A { x: u8; }", Tier.FEBIRD, "the file asks for it"),
        ("@tier(archive) struct A { 1: x: u8; }", Tier.ARCHIVE, "the file asks for it"),
        ('@tier(custom) @python.codec("g:C") struct A;', Tier.CUSTOM, "the file names its codec"),
        ("struct A { 1: x: u8; }", Tier.MEMCPY, "every field has a fixed size"),
    ],
)
def test_a_tier_that_is_asked_for_is_the_reason(
    tmp_path: Path, declaration: str, tier: Tier, reason: str
) -> None:
    plan = struct_of(program_of(tmp_path, f"module m; {declaration}"), "m.A").plan
    assert (plan.tier, plan.reason, plan.layout is None) == (tier, reason, tier is not Tier.MEMCPY)


@pytest.mark.parametrize(
    ("annotation", "tier", "reason"),
    [
        ("", Tier.FEBIRD, UNION),
        ("@tier(febird)", Tier.FEBIRD, "the file asks for it"),
        ("@tier(archive)", Tier.ARCHIVE, "the file asks for it"),
    ],
)
def test_a_union_is_febird_or_an_archive(tmp_path: Path, annotation: str, tier: Tier, reason: str) -> None:
    program = program_of(tmp_path, f"module m; {annotation} union U {{ 1: a: u8; }}")
    plan = program.modules[0].unions[0].plan
    assert plan == model.StructPlan(tier, reason, None)


def test_values_of_an_archive_travel_through_a_method_in_febird(tmp_path: Path) -> None:
    program = program_of(
        tmp_path, "module m; @tier(archive) struct A { 1: x: u8; } service S { f(a: A) -> A; g(x: u8); }"
    )
    f, g = program.modules[0].services[0].methods
    assert (f.params.tier, f.results.tier, g.params.tier) == (Tier.FEBIRD, Tier.FEBIRD, Tier.MEMCPY)
    assert f.params.plan.reason == "field `a` is `A`, which is archive because the file asks for it"


def test_errors_are_febird_whatever_their_fields(tmp_path: Path) -> None:
    error = struct_of(program_of(tmp_path, "module m; error E { x: u32; }"), "m.E")
    assert (error.tier, error.layout) == (Tier.FEBIRD, None)


def test_parameters_and_results_are_planned_as_structs_are(tmp_path: Path) -> None:
    program = program_of(tmp_path, "module m; service S { f(a: u8, b: u32) -> string; }")
    method = program.modules[0].services[0].methods[0]
    assert method.params.layout is not None
    assert method.params.layout.size == 8
    assert method.results.tier is Tier.FEBIRD


def test_an_imported_struct_keeps_its_layout(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        'module m; import "o.mfidl"; struct A { x: u8; p: o.P; }',
        o="module o; struct P { x: f64; }",
    )
    layout = struct_of(program, "m.A").layout
    assert layout is not None
    assert layout.size == 16


def test_a_long_chain_of_structs_needs_no_stack(tmp_path: Path) -> None:
    chain = "".join(f"struct S{i} {{ a: S{i + 1}; }}\n" for i in range(3000))
    program = program_of(tmp_path, f"module m; {chain} struct S3000 {{ x: u32; }}")
    layout = struct_of(program, "m.S0").layout
    assert layout is not None
    assert layout.size == 4


def test_the_reason_of_a_long_chain_leaves_out_its_middle(tmp_path: Path) -> None:
    chain = "".join(f"struct S{i} {{ a: S{i + 1}; }}\n" for i in range(3000))
    program = program_of(tmp_path, f"module m; {chain} struct S3000 {{ x: string; }}")
    reasons = [struct.plan.reason for struct in program.modules[0].structs]
    assert max(len(reason) for reason in reasons) < 600
    assert all("field `x` is a string" in reason for reason in reasons)
