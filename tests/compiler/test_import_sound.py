"""`mfidlc import` writes what compiles: what the front end refuses is left out, and reported at its place."""

from mfidl.diagnostics import Diagnostics
from mfidl.foreign.draft import (
    Builtin,
    Const,
    Enum,
    EnumMember,
    File,
    Literal,
    Member,
    Method,
    Named,
    Project,
    Ref,
    Service,
    Struct,
)
from mfidl.foreign.sound import sound_texts
from mfidl.source import SourceFile, Span

SOURCE = SourceFile("api.x", "api.x", "bad good\n")
BAD, GOOD = Span(SOURCE, 0, 3), Span(SOURCE, 4, 8)


def texts_of(
    *declarations: Struct | Enum | Service | Const, file: File | None = None
) -> tuple[dict[str, str], list[str]]:
    """The schemas and the diagnostics, each diagnostic after the word of the source at its place."""
    project, diagnostics = Project(), Diagnostics()
    made = file or File(SOURCE, "api.x", ("p",))
    made.declarations = list(declarations)
    project.add(made)
    texts = sound_texts(project, diagnostics)
    warnings = [
        f"{each.span.text() if each.span else ''} {each.code} {each.message}" for each in diagnostics.sorted()
    ]
    return texts, warnings


def test_a_field_whose_default_does_not_fit_its_type_is_left_out() -> None:
    struct = Struct("A", "A", GOOD, doc="Kept.")
    struct.members = [
        Member("a", Builtin("i32"), BAD, 1, Literal('"x"'), doc="Gone."),
        Member("b", Builtin("i32"), GOOD, 2, Literal("3"), doc="Kept, too."),
    ]
    texts, warnings = texts_of(struct)
    assert texts == {
        "api.mfidl": "module p.api;\n\n/// Kept.\nstruct A {\n  /// Kept, too.\n  2: b: i32 = 3;\n}\n"
    }
    assert warnings == [
        "bad W1005 left out, as the schema would not compile with it: `a` of `A`: expected a whole number of type i32, "
        "found a string"
    ]


def test_what_names_a_constant_that_is_left_out_is_left_out() -> None:
    const = Const("C", "C", BAD, type=Builtin("i32"), value=Literal('"x"'))
    struct = Struct("S", "S", GOOD)
    struct.members = [Member("a", Builtin("i32"), BAD, 1, Named("C")), Member("b", Builtin("i32"), GOOD, 2)]
    texts, warnings = texts_of(const, struct)
    assert texts == {"api.mfidl": "module p.api;\n\nstruct S {\n  2: b: i32;\n}\n"}
    assert [each.partition(" compile with it: ")[2].partition(":")[0] for each in warnings] == [
        "`C`",
        "`a` of `S`",
    ]


def test_members_and_methods_are_left_out_without_their_declarations() -> None:
    enum = Enum("E", "E", GOOD)
    enum.members = [EnumMember("x", 1), EnumMember("y", 1, span=BAD)]
    service = Service("S", "S", GOOD)
    service.methods = [Method("f", GOOD, [Member("e", Ref("E"), GOOD)]), Method("f", BAD)]
    texts, warnings = texts_of(enum, service)
    assert texts["api.mfidl"].endswith("open enum E: i32 {\n  x = 1,\n}\n\nservice S {\n  f(e: E);\n}\n")
    assert [each.partition(" with it: ")[0] for each in warnings] == [
        "bad W1005 left out, as the schema would not compile"
    ] * 2


def test_what_refers_to_something_left_out_is_left_out_too() -> None:
    first, second, holder = Struct("1", "A", GOOD), Struct("2", "A", BAD), Struct("H", "H", GOOD)
    second.members = [Member("x", Builtin("i32"), GOOD, 1)]
    inner = Enum("2.E", "E", GOOD, holder="2")
    inner.members = [EnumMember("x", 1)]
    holder.members = [Member("own", Ref("1"), GOOD, 1), Member("e", Ref("2.E"), BAD, 2)]
    texts, warnings = texts_of(first, second, inner, holder)
    assert texts["api.mfidl"] == "module p.api;\n\nstruct A { }\n\nstruct H {\n  1: own: A;\n}\n"
    assert [each.split(": ")[1] for each in warnings] == ["`A`", "`e` of `H`"]


def test_a_mistake_of_a_whole_file_is_an_error_at_that_file() -> None:
    file = File(SOURCE, "api.x", ("p",))
    file.module = "2.api"
    texts, warnings = texts_of(Struct("A", "A", GOOD), file=file)
    assert texts == {}
    assert len(warnings) == 1
    assert warnings[0].startswith(" E1007 `api.mfidl` would not compile: ")
