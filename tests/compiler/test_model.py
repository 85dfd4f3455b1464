"""What generators read: the resolved program of small schemas."""

from pathlib import Path

from mfidl import model
from mfidl.model import ListOf, Named, OptionalOf, Primitive, Scalar
from tests.compiler.schema import program_of, struct_of

U32 = Primitive(Scalar.U32)


def test_imported_modules_come_before_importing_ones_and_only_named_files_are_requested(
    tmp_path: Path,
) -> None:
    program = program_of(
        tmp_path,
        'module a.main; import "other.mfidl" as o; struct A { b: o.B; }',
        other="module a.other; struct B { x: u8; }",
    )
    assert [(m.name, m.requested) for m in program.modules] == [("a.other", False), ("a.main", True)]
    assert program.modules[1].imports == (model.Import("a.other", "o"),)
    assert [m.path for m in program.modules] == ["other.mfidl", "main.mfidl"]


def test_a_file_named_and_imported_is_loaded_once(tmp_path: Path) -> None:
    from mfidl.compiler import check

    (tmp_path / "a.mfidl").write_text('module a; import "b.mfidl"; struct A { b: b.B; }')
    (tmp_path / "b.mfidl").write_text("module b; struct B { x: u8; }")
    outcome = check([str(tmp_path / "a.mfidl"), str(tmp_path / "b.mfidl"), str(tmp_path / "a.mfidl")])
    assert outcome.program is not None
    assert [(m.name, m.requested) for m in outcome.program.modules] == [("b", True), ("a", True)]


def test_the_path_of_a_module_is_relative_to_its_import_path(tmp_path: Path) -> None:
    from mfidl.compiler import check

    (tmp_path / "sf1").mkdir()
    (tmp_path / "sf1" / "a.mfidl").write_text('module sf1.a; import "sf1/b.mfidl"; struct A { b: b.B; }')
    (tmp_path / "sf1" / "b.mfidl").write_text("module sf1.b; struct B { x: u8; }")
    outcome = check([str(tmp_path / "sf1" / "a.mfidl")], [str(tmp_path)])
    assert outcome.program is not None
    assert [m.path for m in outcome.program.modules] == ["sf1/b.mfidl", "sf1/a.mfidl"]


def test_types_are_free_of_aliases_and_spelled_types_keep_them(tmp_path: Path) -> None:
    program = program_of(tmp_path, "module m; type Id = u32; type Ids = list<Id>; struct A { ids: Ids?; }")
    field = struct_of(program, "m.A").fields[0]
    assert field.type == OptionalOf(ListOf(U32))
    assert field.spelled == OptionalOf(model.AliasOf("m.Ids", ListOf(model.AliasOf("m.Id", U32))))
    assert model.expand(field.spelled) == field.type


def test_constraints_of_an_alias_reach_the_places_where_it_is_used(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        "module m; type Percent = u32 @range(..100);"
        "struct A { one: Percent @range(1..); many: list<Percent>; maybe: Percent?; }",
    )
    one, many, maybe = struct_of(program, "m.A").fields
    up_to_100 = model.RangeConstraint(None, 100)
    assert one.constraints == (up_to_100, model.RangeConstraint(1, None))
    assert isinstance(many.type, ListOf)
    assert many.type.constraints == (up_to_100,)
    assert maybe.constraints == (up_to_100,)


def test_declarations_stand_behind_what_they_need_complete(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        "module m; struct A { b: B; c: array<C, 2>; } struct B { id: Id; }"
        "struct C { kids: list<A>; level: Level; }"
        "type Id = u32; enum Level: u8 { a = 0 }",
    )
    names = [each.name for each in program.modules[0].declarations]
    for earlier, later in (("B", "A"), ("C", "A"), ("Id", "B"), ("Level", "C")):
        assert names.index(earlier) < names.index(later)


def test_recursive_structs_know_their_cycle(tmp_path: Path) -> None:
    program = program_of(
        tmp_path, "module m; struct A { b: list<B>; } struct B { a: A?; } struct C { a: A; }"
    )
    assert struct_of(program, "m.A").cycle == {"m.A", "m.B"}
    assert struct_of(program, "m.B").cycle == {"m.A", "m.B"}
    assert struct_of(program, "m.C").cycle == frozenset()


def test_a_single_unnamed_result_is_a_field_called_value(tmp_path: Path) -> None:
    program = program_of(tmp_path, "module m; service S { a() -> u32; b() -> (x: u32); c(); }")
    a, b, c = program.modules[0].services[0].methods
    assert ([f.name for f in a.results.fields], a.single_result) == (["value"], True)
    assert ([f.name for f in b.results.fields], b.single_result) == (["x"], False)
    assert ([f.name for f in c.results.fields], c.single_result) == ([], False)
    assert (b.index, b.full_name, b.params.full_name) == (1, "m.S.b", "m.S.b.params")
    assert b.results.kind is model.StructKind.RESULTS


def test_annotations_of_methods_are_in_the_model(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        "module m; agent t: string; error E { } error F { }"
        "service S per t {"
        "  @idempotent @deadline(200ms) @batch(max = 512) a() throws F, E; @oneway b(); @ordered c(); }",
    )
    service = program.modules[0].services[0]
    a, b, c = service.methods
    assert service.agent is not None
    assert service.agent.type == Primitive(Scalar.STRING)
    assert (a.idempotent, a.deadline_ns, a.batch_max, a.oneway) == (True, 200_000_000, 512, False)
    assert [program.struct(error).full_name for error in a.throws] == ["m.F", "m.E"]
    assert (b.oneway, b.idempotent) == (True, False)
    assert (c.deadline_ns, c.batch_max, c.throws) == (None, None, ())
    assert (a.ordered, b.ordered, c.ordered) == (False, False, True)


def test_values_are_evaluated_for_their_types(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """module m;
        enum E: u8 { a = 1, b = 2 }
        struct P { x: u32; y: f32 = 2; }
        const N: u32 = 0x10;
        const F: f64 = N;
        const S: set<string> = ["b", "a"];
        const M: map<E, duration> = { E.b: 30s };
        const L: list<P> = [{ y: 1.5, x: N }];
        const B: bytes = "\\x00\\xff";
        const U: uuid = "00000000-0000-0000-0000-0000000000ff";
        """,
    )
    values = {const.name: const.value for const in program.modules[0].constants}
    assert values["N"] == 16
    assert isinstance(values["F"], float)
    assert values["F"] == 16.0
    assert values["S"] == model.ListValue(("a", "b"))
    assert values["M"] == model.MapValue(((model.EnumValue("m.E", "b", 2), 30_000_000_000),))
    assert values["L"] == model.ListValue((model.StructValue("m.P", (("x", 16), ("y", 1.5))),))
    assert values["B"] == b"\x00\xff"
    assert values["U"] == bytes(15) + b"\xff"


def test_doc_comments_reach_every_kind_of_node(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        """/// The module,
/// in two lines.
module m;
// not a doc comment
/// A struct.
@tier(febird)
struct A {
  /// A field.
  x: u32;
}
/// A service.
service S {
  /// A method.
  f(
    /// A parameter.
    a: u32
  );
}
/// An enum.
enum E: u8 {
  /// A member.
  a = 0
}
""",
    )
    module = program.modules[0]
    service = module.services[0]
    assert module.doc == "The module,\nin two lines."
    assert struct_of(program, "m.A").doc == "A struct."
    assert struct_of(program, "m.A").fields[0].doc == "A field."
    assert (service.doc, service.methods[0].doc) == ("A service.", "A method.")
    assert service.methods[0].params.fields[0].doc == "A parameter."
    enum = program.enum(Named("m.E", model.DeclKind.ENUM))
    assert (enum.doc, enum.members[0].doc) == ("An enum.", "A member.")


def test_a_deprecated_field_carries_its_text(tmp_path: Path) -> None:
    program = program_of(tmp_path, 'module m; struct A { x: u32 @deprecated("use y"); y: u32; }')
    assert [field.deprecated for field in struct_of(program, "m.A").fields] == ["use y", None]
