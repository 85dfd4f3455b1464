"""The whole language in the model: what each construct becomes. Mistakes are the corpus's affair."""

from pathlib import Path

import pytest

from mfidl import model
from mfidl.compiler import check
from mfidl.model import DeclKind, ListOf, Named, OptionalOf, Primitive, RefOf, Scalar, Tier
from tests.compiler.schema import outcome_of, program_of, struct_of

U8 = Primitive(Scalar.U8)


def flags_of(program: model.Program, name: str) -> model.Flags:
    return program.flags(Named(name, DeclKind.FLAGS))


def union_of(program: model.Program, name: str) -> model.Union:
    return program.union(Named(name, DeclKind.UNION))


def constants_of(program: model.Program) -> dict[str, model.Value]:
    return {const.name: const.value for const in program.modules[-1].constants}


def methods_of(program: model.Program) -> dict[str, model.Method]:
    return {method.name: method for method in program.modules[-1].services[0].methods}


# Flags and unions -------------------------------------------------------------------------------------------


def test_a_flag_without_a_value_is_the_bit_behind_the_one_before(tmp_path: Path) -> None:
    program = program_of(tmp_path, "module m; const N: u8 = 6; flags F: u16 { a, b, c = N, d, e = 3 }")
    flags = flags_of(program, "m.F")
    assert flags.base == Primitive(Scalar.U16)
    assert [(each.name, each.bit) for each in flags.members] == [
        *(("a", 0), ("b", 1), ("c", 6), ("d", 7), ("e", 3))
    ]


def test_values_of_flags_are_members_lists_and_constants_of_them(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        flags F: u8 { a, b, c = 7 }
        type Alias = F;
        const ONE: F = F.c;
        const TWO: Alias = [F.c, F.a];
        const ALL: F = [TWO, F.b];
        const NONE: F = [];
        struct S { f: F = ALL; many: list<F> = [F.a, [F.b, F.c]]; maybe: F? = F.b; }
        """,
    )
    c_and_a = model.FlagsValue("m.F", ("a", "c"), 0b1000_0001)
    every = model.FlagsValue("m.F", ("a", "b", "c"), 0b1000_0011)
    assert constants_of(program) == {
        "ONE": model.FlagsValue("m.F", ("c",), 0b1000_0000),
        "TWO": c_and_a,
        "ALL": every,
        "NONE": model.FlagsValue("m.F", (), 0),
    }
    f, many, maybe = struct_of(program, "m.S").fields
    assert f.default == every
    b = model.FlagsValue("m.F", ("b",), 0b10)
    a = model.FlagsValue("m.F", ("a",), 1)
    assert many.default == model.ListValue((a, model.FlagsValue("m.F", ("b", "c"), 0b1000_0010)))
    assert maybe.default == b


def test_flags_of_another_module_are_written_with_it(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        'module m; import "o.mfidl" as other; const C: other.F = [other.F.a, other.F.b];',
        o="module o; flags F: u8 { a, b }",
    )
    assert constants_of(program)["C"] == model.FlagsValue("o.F", ("a", "b"), 3)


def test_flags_are_an_integer_in_a_layout(tmp_path: Path) -> None:
    layout = struct_of(
        program_of(tmp_path, "module m; flags F: u32 { a } struct S { x: u8; f: F; }"), "m.S"
    ).layout
    assert layout is not None
    assert [(slot.offset, slot.size) for slot in layout.slots] == [(0, 1), (4, 4)]


def test_alternatives_without_numbers_are_numbered_by_place(tmp_path: Path) -> None:
    program = program_of(
        tmp_path, "module m; union A { x: u8; y: string; } union B { 7: x: u8; 2: y: string; }"
    )
    assert [each.number for each in union_of(program, "m.A").alternatives] == [1, 2]
    assert [each.number for each in union_of(program, "m.B").alternatives] == [7, 2]


def test_a_value_of_a_union_is_one_alternative(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        struct P { x: u8; y: u8 = 3; }
        union V { n: f64; p: P; all: list<V>; }
        const A: V = { n: 1 };
        const B: V = { all: [A, { p: { x: 2 } }] };
        struct S { v: V = { n: 2.5 }; }
        """,
    )
    a = model.UnionValue("m.V", "n", 1.0)
    p = model.UnionValue("m.V", "p", model.StructValue("m.P", (("x", 2),)))
    assert constants_of(program) == {"A": a, "B": model.UnionValue("m.V", "all", model.ListValue((a, p)))}
    assert struct_of(program, "m.S").fields[0].default == model.UnionValue("m.V", "n", 2.5)


def test_unions_and_structs_know_the_cycle_that_they_share(tmp_path: Path) -> None:
    program = program_of(
        tmp_path, "module m; union V { a: list<S>; b: u8; } struct S { v: V; } struct T { v: V; }"
    )
    assert union_of(program, "m.V").cycle == {"m.V", "m.S"}
    assert struct_of(program, "m.S").cycle == {"m.V", "m.S"}
    assert struct_of(program, "m.T").cycle == frozenset()


def test_what_a_union_holds_directly_stands_before_it(tmp_path: Path) -> None:
    program = program_of(tmp_path, "module m; union V { p: P; f: F; } struct P { x: u8; } flags F: u8 { a }")
    names = [each.name for each in program.modules[0].declarations]
    assert names.index("P") < names.index("V")
    assert names.index("F") < names.index("V")


# Identity: numbers, reserved, earlier names -----------------------------------------------------------------


def test_numbers_reserved_and_earlier_names_are_in_the_model(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        @tier(archive) struct A {
          1: x: u8; @was("color", "hue") 6: colour: string; reserved 5, 7..9, "old"; reserved 2;
        }
        struct Febird { 2: b: string; 1: a: u8; }
        service S { @was("find") search(2: b: u8, @was("z") 1: a: u8) -> (1: n: u8); }
        """,
    )
    archive = struct_of(program, "m.A")
    assert [(each.name, each.number, each.was) for each in archive.fields] == [
        ("x", 1, ()),
        ("colour", 6, ("color", "hue")),
    ]
    assert archive.reserved == model.Reserved(((5, 5), (7, 9), (2, 2)), ("old",))
    assert [each.number for each in struct_of(program, "m.Febird").fields] == [2, 1]
    search = methods_of(program)["search"]
    assert search.was == ("find",)
    assert [(each.number, each.was) for each in search.params.fields] == [(2, ()), (1, ("z",))]
    assert [each.number for each in search.results.fields] == [1]


def test_the_fix_for_an_archive_without_numbers_numbers_all_fields(tmp_path: Path) -> None:
    text = """module m;
@tier(archive) struct A {
  name: string;  // the first
  @deprecated
  owner: string?;
  reserved 2;
}
"""
    (diagnostic,) = outcome_of(tmp_path, main=text).diagnostics
    assert (diagnostic.code, diagnostic.fix is not None) == ("E0426", True)
    assert diagnostic.fix is not None
    span = diagnostic.fix.span
    mended = text[: span.start] + diagnostic.fix.replacement + text[span.end :]
    fields = struct_of(program_of(tmp_path, mended), "m.A").fields
    assert [(each.name, each.number) for each in fields] == [("name", 1), ("owner", 3)]
    assert fields[1].deprecated == ""


# Archive, custom, foreign types, names per language ---------------------------------------------------------


def test_refs_may_be_recursive_between_archives(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        @tier(archive) struct A { 1: next: ref<A>?; 2: all: list<ref<Link>>; 3: must: ref<B>; }
        @tier(archive) struct B { 1: a: ref<A>; }
        type Link = B;
        """,
    )
    a_ref, b_ref = (RefOf(Named(f"m.{name}", DeclKind.STRUCT)) for name in "AB")
    fields = struct_of(program, "m.A").fields
    assert [each.type for each in fields] == [OptionalOf(a_ref), ListOf(b_ref), b_ref]
    assert struct_of(program, "m.A").cycle == {"m.A", "m.B"}


def test_codecs_and_foreign_types_are_in_the_model(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        @tier(custom) @cpp.codec("g/c.hpp", "g::Geo", "g::Codec") @python.codec("g.codec:Codec") struct Geo;
        @cpp.type("v.hpp", "v::Vec") struct Vec { x: f32; }
        """,
    )
    geo, vec = struct_of(program, "m.Geo"), struct_of(program, "m.Vec")
    assert geo.cpp_codec == model.CppCodec("g/c.hpp", "g::Geo", "g::Codec")
    assert geo.python_codec == model.PythonCodec("g.codec", "Codec")
    assert (geo.tier, geo.fields) == (Tier.CUSTOM, ())
    assert (vec.cpp_type, vec.tier) == (model.CppType("v.hpp", "v::Vec"), Tier.MEMCPY)


def test_names_per_language_reach_every_kind_of_node(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        @cpp.name("c1") const C: u8 = 1;
        @cpp.name("a1") type A = u8;
        @cpp.name("g1") agent g: string;
        @cpp.name("E1") enum E: u8 { @cpp.name("m1") m = 0 }
        @cpp.name("F1") flags F: u8 { @cpp.name("m1") m }
        @python.name("S1") @cpp.name("S2") struct S { @cpp.name("f1") f: u8; }
        @cpp.name("R1") error R { @cpp.name("f1") f: u8; }
        @cpp.name("U1") union U { @cpp.name("f1") f: u8; }
        @cpp.name("V1") service V {
          @cpp.name("call1") call(@cpp.name("p1") p: u8) -> (@cpp.name("r1") r: u8);
        }
        @cpp.name("T1") topic T : S;
        """,
    )
    module = program.modules[0]
    struct = struct_of(program, "m.S")
    assert struct.target_names == (("python", "S1"), ("cpp", "S2"))
    assert struct.fields[0].target_names == (("cpp", "f1"),)
    method = module.services[0].methods[0]
    enum, flags = module.enums[0], module.flags[0]
    nodes = (module.constants[0], module.aliases[0], module.agents[0], enum, enum.members[0], flags)
    more = (flags.members[0], struct_of(program, "m.R"), module.unions[0], module.unions[0].alternatives[0])
    last = (module.services[0], method, method.params.fields[0], method.results.fields[0], module.topics[0])
    for node in (*nodes, *more, *last):
        assert [language for language, _ in node.target_names] == ["cpp"]


def test_deprecation_reaches_every_kind_of_node(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        @deprecated("c") const C: u8 = 1;
        @deprecated("g") agent g: string;
        @deprecated("f") flags F: u8 { a @deprecated("m") }
        @deprecated("u") union U { f: u8 @deprecated("v"); }
        @deprecated("t") topic T per g : U;
        """,
    )
    module = program.modules[0]
    flags, union = module.flags[0], module.unions[0]
    nodes = (module.constants[0], module.agents[0], flags, flags.members[0], union, union.alternatives[0])
    assert [each.deprecated for each in (*nodes, module.topics[0])] == ["c", "g", "f", "m", "u", "v", "t"]


# Ways to call, topics ---------------------------------------------------------------------------------------


def test_streams_stand_beside_parameters_and_results(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        type Small = u8 @range(..5);
        service S {
          down(from: u32) -> stream<Small>;
          /// Up.
          up(name: string, /// The parts.
             parts: stream<bytes @length(..10)>) -> u64;
          plain(x: u8) -> u8;
        }""",
    )
    methods = methods_of(program)
    down, up = methods["down"], methods["up"]
    assert down.result_stream is not None
    assert (down.result_stream.name, down.result_stream.type) == ("value", U8)
    assert down.result_stream.constraints == (model.RangeConstraint(None, 5),)
    assert (down.results.fields, down.single_result, down.param_stream) == ((), False, None)
    assert up.param_stream is not None
    assert (up.param_stream.name, up.param_stream.doc) == ("parts", "The parts.")
    assert up.param_stream.constraints == (model.LengthConstraint(0, 10),)
    assert [each.name for each in up.params.fields] == ["name"]
    assert up.single_result
    assert methods["plain"].param_stream is methods["plain"].result_stream is None


def test_caches_and_replication_are_in_the_model(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        const N: u32 = 10_000;
        error E {}
        service S {
          @cached(entries = N, ttl = 1h) a() -> u8;
          @cached(entries = 5) b() -> (x: u8, y: u8);
          @cached(entries = 5, max_bytes = N, errors = true) d() -> u8 throws E;
          @replicated(pattern = one_hop_ack_client) c(x: u8) -> u8;
        }""",
    )
    methods = methods_of(program)
    assert methods["a"].cached == model.Cache(10_000, 3_600_000_000_000)
    assert methods["b"].cached == model.Cache(5, None, 1 << 24, errors=False)
    assert methods["d"].cached == model.Cache(5, None, 10_000, errors=True)
    assert (methods["c"].replicated, methods["c"].cached) == ("one_hop_ack_client", None)


def test_topics_carry_a_struct_or_a_union(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        agent shard: u32;
        struct A { x: u8; }
        union U { a: A; }
        type Alias = A;
        /// Documented.
        topic One per shard : Alias;
        topic Two: U;
        """,
    )
    one, two = program.modules[0].topics
    assert (one.type, two.type) == (Named("m.A", DeclKind.STRUCT), Named("m.U", DeclKind.UNION))
    assert one.agent is not None
    assert (one.agent.name, one.doc, one.full_name, two.agent) == ("shard", "Documented.", "m.One", None)


# Values and constraints, wherever they may stand ------------------------------------------------------------


def test_errors_have_defaults_and_constraints_as_structs_do(tmp_path: Path) -> None:
    error = struct_of(
        program_of(
            tmp_path, 'module m; error E { code: u8 = 7 @range(..9); why: string = "x" @length(1..); }'
        ),
        "m.E",
    )
    assert [each.default for each in error.fields] == [7, "x"]
    assert error.fields[0].constraints == (model.RangeConstraint(None, 9),)


def test_constraints_stand_at_every_level_of_a_type_and_reach_through_aliases(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        const MOST: u32 = 9;
        const LEAST: f64 = 0.5;
        type Name = string @length(..MOST);
        type Names = list<Name @length(1..)> @length(..MOST);
        struct S {
          names: map<Name, Names @length(2..)> @length(3..);
          weights: list<list<f32 @range(LEAST..)> @length(..4)> @length(..5);
        }""",
    )
    names, weights = struct_of(program, "m.S").fields
    assert names.constraints == (model.LengthConstraint(3, None),)
    assert isinstance(names.type, model.MapOf)
    assert names.type.key_constraints == (model.LengthConstraint(0, 9),)
    assert names.type.value_constraints == (model.LengthConstraint(0, 9), model.LengthConstraint(2, None))
    assert isinstance(names.type.value, ListOf)
    assert names.type.value.constraints == (model.LengthConstraint(0, 9), model.LengthConstraint(1, None))
    assert weights.constraints == (model.LengthConstraint(0, 5),)
    assert isinstance(weights.type, ListOf)
    assert weights.type.constraints == (model.LengthConstraint(0, 4),)
    assert isinstance(weights.type.element, ListOf)
    assert weights.type.element.constraints == (model.RangeConstraint(0.5, None),)


@pytest.mark.parametrize(
    ("type_", "literal", "value"),
    [
        ("timestamp", '"1970-01-01T00:00:00Z"', 0),
        ("timestamp", '"2024-02-29T12:30:45.000000001Z"', 1_709_209_845_000_000_001),
        ("timestamp", '"2024-02-29T12:30:45+02:00"', 1_709_202_645_000_000_000),
        ("timestamp", '"1969-12-31T23:59:59.5Z"', -500_000_000),
        ("timestamp", "5", 5),
        ("duration", "90min", 5_400_000_000_000),
        ("duration", "-1d", -86_400_000_000_000),
        ("uuid", '"123E4567-e89b-12d3-a456-426614174000"', bytes.fromhex("123e4567e89b12d3a456426614174000")),
        ("set<u8>", "[3, 1, 2]", model.ListValue((1, 2, 3))),
        ("array<bool, 2>", "[true, false]", model.ListValue((True, False))),
        ("map<u8, list<string>>", '{ 1: ["a"], 2: [] }', model.MapValue(
            ((1, model.ListValue(("a",))), (2, model.ListValue(()))))),
    ],
)  # fmt: skip
def test_a_literal_is_the_value_of_its_type(
    tmp_path: Path, type_: str, literal: str, value: model.Value
) -> None:
    program = program_of(tmp_path, f"module m; const C: {type_} = {literal}; struct S {{ f: {type_} = C; }}")
    assert constants_of(program)["C"] == value
    assert struct_of(program, "m.S").fields[0].default == value


# The page's own example -------------------------------------------------------------------------------------


def test_the_whole_language_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "sf1").mkdir()
    (tmp_path / "sf1" / "text.mfidl").write_text("module sf1.text; struct Document { id: u32; }")
    outcome = check([str(Path(__file__).parent / "whole_language.mfidl")], [str(tmp_path)])
    assert outcome.diagnostics == []
    assert outcome.program is not None
    tiers = {struct.name: struct.tier.value for struct in outcome.program.modules[-1].structs}
    assert tiers == {
        **dict.fromkeys(("Posting", "Point", "Vec3", "Version", "Indexed"), "memcpy"),
        **dict.fromkeys(("Hit", "NoSuchCollection", "DuplicateDocument"), "febird"),
        **dict.fromkeys(("Config", "Person"), "archive"),
        "Geo": "custom",
    }
