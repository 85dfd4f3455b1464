"""Annotations that a schema declares itself: typed, checked, carried to plugins, unknown to peers."""

import html
from pathlib import Path
from typing import Any

import pytest

from mfidl import model
from mfidl.breaking.compare import compare
from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.read import from_message
from mfidl.descriptor.write import to_message
from mfidl.diagnostics import Diagnostics
from mfidl.doc import generate as document
from mfidl.explain import explain, render_text
from mfidl.fmt.files import format_source
from mfidl.source import SourceFile
from tests.compiler.schema import outcome_of, program_of

OWNER = "annotation Owner { team: string; pager: u32 = 0; } "
EVERYWHERE = """
@Owner(team = "module")
module m;
annotation Owner { team: string; }
@Owner(team = "const") const C: u32 = 1;
@Owner(team = "alias") type A = u32;
@Owner(team = "agent") agent g: string;
@Owner(team = "enum") enum E: u8 { @Owner(team = "member") a = 1 }
@Owner(team = "flags") flags F: u8 { @Owner(team = "bit") a }
@Owner(team = "struct") struct S { @Owner(team = "field") x: u32; y: u32 @Owner(team = "behind") = 1; }
@Owner(team = "error") error X { @Owner(team = "of an error") x: u32; }
@Owner(team = "union") union U { @Owner(team = "alternative") x: u32; }
@Owner(team = "service") service I per g {
  @Owner(team = "method") f(@Owner(team = "parameter") x: u32) -> (@Owner(team = "result") r: u32);
}
@Owner(team = "topic") topic T : S;
@Owner(team = "annotation") annotation Plain { }
"""


def teams(annotations: model.Annotations) -> list[object]:
    return [dict(each.fields)["team"] for each in annotations if each.struct == "m.Owner"]


def test_they_stand_on_every_declaration_and_member(tmp_path: Path) -> None:
    module = program_of(tmp_path, EVERYWHERE).requested[0]

    members: list[Any] = [*module.enums[0].members, *module.flags[0].members]
    fields = [each for struct in module.structs for each in struct.fields]
    fields += module.unions[0].alternatives
    [service], [topic] = module.services, module.topics
    [method] = service.methods
    fields += [*method.params.fields, *method.results.fields]
    named: list[Any] = [*module.constants, *module.agents, *module.declarations, service, method, topic]
    found = [
        teams(each.annotations) for each in (module, *named, *members, *fields, module.annotation_types[1])
    ]
    told = "module const alias agent enum member flags bit struct field behind error union alternative"
    told += " service method parameter result topic annotation"
    assert sorted(str(team) for [team] in found) == sorted([*told.split(), "of an error"])


def test_several_stand_together_in_their_order_and_keep_what_was_written(tmp_path: Path) -> None:
    text = '@Since(v = [1, 2]) @Owner(team = "a") struct S { x: u32; } annotation Since { v: list<u32>; }'
    [struct] = program_of(tmp_path, f"module m; {OWNER} {text}").requested[0].structs

    assert struct.annotations == (
        model.StructValue("m.Since", (("v", model.ListValue((1, 2))),)),
        model.StructValue("m.Owner", (("team", "a"),)),
    )


def test_those_of_an_imported_module_are_written_with_its_name(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        'module m; import "far.mfidl" as f; @f.Owner(team = f.TEAM, pager = 7) struct S { x: u32; }',
        far=f'module far; const TEAM: string = "search"; {OWNER}',
    )
    [value] = program.module("m").structs[0].annotations

    assert value == model.StructValue("far.Owner", (("team", "search"), ("pager", 7)))
    assert [each.full_name for each in program.module("far").annotation_types] == ["far.Owner"]


def test_they_change_nothing_for_peers_and_break_nothing(tmp_path: Path) -> None:
    plain = "struct S { x: string; } service I { f(s: S) -> S; }"
    noted = '@Owner(team = "a") struct S { @Owner(team = "b") x: string; }'
    noted += 'service I { @Owner(team = "c") f(s: S) -> S; }'
    old = program_of(tmp_path, f"module m; {plain}")
    new = program_of(tmp_path, f"module m; {OWNER} {noted}")

    assert new.requested[0].services[0].fingerprint == old.requested[0].services[0].fingerprint
    assert new.requested[0].services[0].annex == old.requested[0].services[0].annex
    assert compare(old, new) == compare(new, old) == []


def test_a_descriptor_whose_annotation_is_no_struct_is_refused(tmp_path: Path) -> None:
    message = to_message(program_of(tmp_path, f'module m; {OWNER} @Owner(team = "a") const C: u32 = 1;'))
    message.modules[0].constants[0].annotations[0] = message.modules[0].constants[0].value

    with pytest.raises(DescriptorError, match="is an annotation, and no struct"):
        from_message(message)


def test_the_formatter_lays_out_declarations_and_uses() -> None:
    text = 'module m;\nannotation Owner{\nteam:string;pager:u32=0;}\n@Owner( team="a" )struct S{x:u32;}'
    formatted = format_source(SourceFile("m.mfidl", "m.mfidl", text), Diagnostics())

    assert formatted is not None
    assert formatted.splitlines() == [
        "module m;",
        "annotation Owner {",
        "  team: string;",
        "  pager: u32 = 0;",
        "}",
        '@Owner(team = "a") struct S { x: u32; }',
    ]


def test_an_annotation_that_holds_what_it_annotates_ends(tmp_path: Path) -> None:
    text = "annotation A { x: S; } struct S { @A(x = { y: 1 }) y: u32; }"
    [struct] = program_of(tmp_path, f"module m; {text}").requested[0].structs

    assert struct.fields[0].annotations[0].struct == "m.A"


def test_an_enum_whose_member_needs_the_enum_says_so(tmp_path: Path) -> None:
    text = "module m; annotation A { e: E; } enum E: u8 { @A(e = E.a) a = 1 }"

    assert [each.code for each in outcome_of(tmp_path, main=text).diagnostics] == ["E0441"]


SHOWN = """module owned;
annotation Owner { team: string; pager: u32 = 0; since: Since = Since.now; }
enum Since: u8 { ever = 0, now = 1 }
@Owner(team = "hits", pager = 7) struct Hit { @Owner(team = "docs") doc: u32; }
@Owner(team = "ranks", since = Since.ever) enum Rank: u8 { a = 0 }
@Owner(team = "index") service Index { @Owner(team = "calls") rank(hit: Hit) -> Rank; }
"""


def test_explain_shows_them_as_they_are_written(tmp_path: Path) -> None:
    text = render_text(explain(program_of(tmp_path, SHOWN)))

    lines = [line.strip() for line in text.splitlines()]
    assert 'annotated  @Owner(team = "hits", pager = 7)' in lines
    assert 'annotated  @Owner(team = "ranks", since = Since.ever)' in lines
    assert 'annotated  @Owner(team = "index")' in lines
    assert '@Owner(team = "calls")' in lines


def test_pages_of_documentation_show_them(tmp_path: Path) -> None:
    files = document(program_of(tmp_path, SHOWN))

    page = html.unescape(next(each.text for each in files if each.path == "owned.html"))
    for given in ("hits", "docs", "ranks", "index", "calls"):
        assert f'<code>@Owner(team = "{given}"' in page, given
