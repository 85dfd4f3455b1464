"""What a change of a schema breaks: each rule by a change that has it, and by the nearest one that has not."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mfidl.breaking.compare import compare
from mfidl.breaking.profile import PROFILES as PROFILE_TABLE
from mfidl.breaking.rules import RULES, Impact
from mfidl.cli.group import cli
from mfidl.compiler import check


def findings(tmp_path: Path, old: str, new: str) -> dict[str, str]:
    """{code: "wire layout"} of a change of one module; later findings of a code add to its impacts."""
    programs = []
    for folder, text in (("old", old), ("new", new)):
        path = tmp_path / folder / "a.mfidl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("module a;\n" + text)
        outcome = check([str(path)])
        assert outcome.program is not None, [each.message for each in outcome.diagnostics]
        programs.append(outcome.program)
    return {c.code: " ".join(impact.value for impact in c.impacts) for c in compare(*programs)}


ARCHIVE = "@tier(archive) struct S {{ 1: a: u32; {} }}"

CASES: dict[str, tuple[str, str, dict[str, str]]] = {
    "module as it was": ("struct S { a: u32; }", "struct S { a: u32; }", {}),
    "declaration added": ("struct S { a: u32; }", "struct S { a: u32; } struct T { b: u8; }", {}),
    "declaration removed": ("struct S { a: u32; }", "", {"B0102": "source"}),
    "struct to enum": ("struct S { a: u32; }", "enum S: u8 { a = 0 }", {"B0103": "wire layout source"}),
    "values that are no number": ("const A: f64 = nan; struct S { a: list<f64> = [nan, A]; }", "const A: f64 = nan; struct S { a: list<f64> = [nan, A]; }", {}),
    "constant": ("const A: u32 = 1;", "const A: u32 = 2;", {"B0104": "behaviour"}),
    # memcpy
    "memcpy field added": ("struct S { a: u32; }", "struct S { a: u32; b: u32; }", {"B0201": "wire layout"}),
    "memcpy field into padding": ("struct S { a: u32; b: u8; }", "struct S { a: u32; b: u8; c: u16; }", {}),
    "closed enum without zero into padding": (
        "enum E: u8 { one = 1 } struct S { a: u32; b: u8; }",
        "enum E: u8 { one = 1 } struct S { a: u32; b: u8; c: E; }",
        {"B0201": "wire"},
    ),
    "closed enum with zero into padding": (
        "enum E: u8 { one = 1, none = 0 } struct S { a: u32; b: u8; }",
        "enum E: u8 { one = 1, none = 0 } struct S { a: u32; b: u8; c: E; }",
        {},
    ),
    "open enum without zero into padding": (
        "open enum E: u8 { one = 1 } struct S { a: u32; b: u8; }",
        "open enum E: u8 { one = 1 } struct S { a: u32; b: u8; c: E; }",
        {},
    ),
    "struct of a closed enum without zero into padding": (
        "enum E: u8 { one = 1 } struct T { x: u8; e: array<E, 1>; } struct S { a: u32; b: u8; }",
        "enum E: u8 { one = 1 } struct T { x: u8; e: array<E, 1>; } struct S { a: u32; b: u8; c: T; }",
        {"B0201": "wire"},
    ),
    "memcpy field removed": ("struct S { a: u32; b: u32; }", "struct S { a: u32; }", {"B0202": "wire layout source"}),
    "memcpy reordered": ("struct S { a: u32; b: u16; }", "struct S { b: u16; a: u32; }", {"B0203": "wire layout"}),
    "memcpy type": ("struct S { a: u32; }", "struct S { a: f32; }", {"B0205": "wire layout source"}),
    "memcpy widened": ("struct S { a: u32; }", "struct S { a: u64; }", {"B0205": "wire layout"}),
    "array length": ("struct S { a: array<u8, 3>; }", "struct S { a: array<u8, 4>; }", {"B0205": "wire layout source"}),
    # febird
    "febird field added": ("struct S { a: string; }", "struct S { a: string; b: u8; }", {"B0201": "wire"}),
    "febird field removed": ("struct S { a: string; b: u8; }", "struct S { a: string; }", {"B0202": "wire source"}),
    "febird reordered": ("struct S { a: string; b: u8; }", "struct S { b: u8; a: string; }", {"B0203": "wire"}),
    "febird widened": ("struct S { a: string; b: u32; }", "struct S { a: string; b: u64; }", {}),
    "febird narrowed": ("struct S { a: string; b: u64; }", "struct S { a: string; b: u32; }", {"B0205": "wire source"}),
    "febird widened from one byte": ("struct S { a: string; b: u8; }", "struct S { a: string; b: u16; }", {"B0205": "wire"}),
    "febird other signedness": ("struct S { a: list<u32>; }", "struct S { a: list<i64>; }", {"B0205": "wire source"}),
    "febird renamed": ("struct S { a: string; }", 'struct S { b: string @was("a"); }', {"B0204": "source"}),
    "febird optional": ("struct S { a: string; }", "struct S { a: string?; }", {"B0211": "wire source"}),
    "default whose member is renamed": (
        "open enum E: u8 { a = 0, b = 1 } @tier(archive) struct S { 1: e: E = E.b; }",
        "open enum E: u8 { a = 0, c = 1 } @tier(archive) struct S { 1: e: E = E.c; }",
        {"B0306": "source"},
    ),
    "default of a text that becomes bytes": (
        '@tier(archive) struct S { 1: a: string = ""; }',
        '@tier(archive) struct S { 1: a: bytes = ""; }',
        {},
    ),
    "coding of an archive's integers": (
        "@tier(archive) struct S { 1: a: i64; 2: b: list<u32>; 3: c: map<i32, u64>; }",
        "@tier(archive) struct S { 1: a: i64.varint; 2: b: list<u32.fixed>; 3: c: map<i32.varint, u64>; }",
        {"B0205": "wire"},
    ),
    "coding and another type": (
        "@tier(archive) struct S { 1: a: i64; }",
        "@tier(archive) struct S { 1: a: i32.varint; }",
        {"B0205": "wire source"},
    ),
    "length tightened": ("struct S { a: string @length(..9); }", "struct S { a: string @length(..8); }", {"B0208": "wire"}),
    "length loosened": ("struct S { a: string @length(..8); }", "struct S { a: string @length(..9); }", {}),
    "element constrained": ("struct S { a: list<u8>; }", "struct S { a: list<u8 @range(..9)>; }", {"B0208": "wire"}),
    "key constrained": ("struct S { a: map<u8, u8>; }", "struct S { a: map<u8 @range(..9), u8>; }", {"B0208": "wire"}),
    "value constrained": ("struct S { a: map<u8, u8>; }", "struct S { a: map<u8, u8 @range(..9)>; }", {"B0208": "wire"}),
    "value constrained as before": ("struct S { a: map<u8, u8 @range(..9)>; }", "struct S { a: map<u8, u8 @range(..9)>; }", {}),
    "element of an optional constrained": ("struct S { a: list<u8>?; }", "struct S { a: list<u8 @range(..9)>?; }", {"B0208": "wire"}),
    "pattern": ("struct S { a: string; }", 'struct S { a: string @pattern("a*"); }', {"B0208": "wire"}),
    "pattern as before": ('struct S { a: string @pattern("a*"); }', 'struct S { a: string @pattern("a*"); }', {}),
    "finite": ("struct S { a: list<u8>; f: f32; }", "struct S { a: list<u8>; f: f32 @finite; }", {"B0208": "wire"}),
    # archive
    "archive optional added": (ARCHIVE.format(""), ARCHIVE.format("2: b: u32?;"), {}),
    "archive required optional added": (ARCHIVE.format(""), ARCHIVE.format("2: b: u32? @required;"), {}),
    "required, and no more": ("struct S { a: string; }", "struct S { @required a: string; }", {}),
    "archive default added": (ARCHIVE.format(""), ARCHIVE.format("2: b: u32 = 5;"), {}),
    "archive plain added": (ARCHIVE.format(""), ARCHIVE.format("2: b: u32;"), {"B0201": "wire"}),
    "archive reserved used": (ARCHIVE.format("reserved 2;"), ARCHIVE.format("2: b: u32?;"), {"B0210": "wire"}),
    "archive removed": (ARCHIVE.format("2: b: u32?;"), ARCHIVE.format(""), {"B0202": "wire source"}),
    "archive removed, reserved": (ARCHIVE.format("2: b: u32?;"), ARCHIVE.format('reserved 2, "b";'), {"B0202": "source"}),
    "archive removed, the number reserved": (ARCHIVE.format("2: b: u32?;"), ARCHIVE.format("reserved 2;"), {"B0202": "wire source"}),
    "archive removed, the name reserved": (ARCHIVE.format("2: b: u32?;"), ARCHIVE.format('reserved "b";'), {"B0202": "wire source"}),
    "archive removed, a range reserved": (ARCHIVE.format("3: b: u32?;"), ARCHIVE.format('reserved 2..3, "b";'), {"B0202": "source"}),
    "archive removed, reserved, and older readers need it": (ARCHIVE.format("2: b: u32;"), ARCHIVE.format('reserved 2, "b";'), {"B0202": "wire source"}),
    "archive optional no more": (ARCHIVE.format("2: b: u32?;"), ARCHIVE.format("2: b: u32;"), {"B0211": "wire source"}),
    "archive optional no more, with a default": (ARCHIVE.format("2: b: u32?;"), ARCHIVE.format("2: b: u32 = 5;"), {"B0211": "source behaviour"}),
    "archive made optional": (ARCHIVE.format("2: b: u32;"), ARCHIVE.format("2: b: u32?;"), {"B0211": "wire source"}),
    "archive made optional, with a default before": (ARCHIVE.format("2: b: u32 = 5;"), ARCHIVE.format("2: b: u32?;"), {"B0211": "source behaviour"}),
    "archive reordered": (ARCHIVE.format("2: b: u32;"), "@tier(archive) struct S { 2: b: u32; 1: a: u32; }", {}),
    "graph begun": (
        "@tier(archive) struct S { 1: a: u32; }",
        "@tier(archive) struct S { 1: a: u32; 2: b: ref<S>?; }",
        {"B0212": "wire"},
    ),
    "graph ended": (
        "@tier(archive) struct S { 1: a: u32; 2: b: ref<S>?; }",
        '@tier(archive) struct S { 1: a: u32; reserved 2, "b"; }',
        {"B0202": "source", "B0212": "wire"},
    ),
    "graph with a table in between": (
        "@tier(archive) struct A { 1: a: u32; } @tier(archive) struct B { 1: a: u32; } "
        "@tier(archive) struct S { 1: b: ref<B>?; }",
        "@tier(archive) struct A { 1: a: u32; } @tier(archive) struct B { 1: a: u32; } "
        "@tier(archive) struct S { 1: b: ref<B>?; 2: a: ref<A>?; }",
        {"B0212": "wire"},
    ),
    "graph with a table behind": (
        "@tier(archive) struct A { 1: a: u32; } @tier(archive) struct B { 1: a: u32; } "
        "@tier(archive) struct S { 1: a: ref<A>?; }",
        "@tier(archive) struct A { 1: a: u32; } @tier(archive) struct B { 1: a: u32; } "
        "@tier(archive) struct S { 1: a: ref<A>?; 2: b: ref<B>?; }",
        {"B0213": "behaviour"},
    ),
    "graph with a reference more": (
        "@tier(archive) struct S { 1: a: ref<S>?; }",
        "@tier(archive) struct S { 1: a: ref<S>?; 2: b: list<ref<S>>; }",
        {"B0213": "behaviour"},
    ),
    "graph with a reference more in what it holds": (
        "@tier(archive) struct S { 1: a: ref<S>?; } @tier(archive) struct H { 1: s: ref<S>?; }",
        "@tier(archive) struct S { 1: a: ref<S>?; 2: h: H?; } @tier(archive) struct H { 1: s: ref<S>?; }",
        {"B0213": "behaviour"},
    ),
    "graph with a number more": (
        "@tier(archive) struct S { 1: a: ref<S>?; }",
        "@tier(archive) struct S { 1: a: ref<S>?; 2: b: u8?; }",
        {},
    ),
    "archive renamed": (ARCHIVE.format("2: b: u32;"), ARCHIVE.format("2: c: u32;"), {"B0204": "source"}),
    "archive renumbered": (ARCHIVE.format("2: b: u32;"), ARCHIVE.format("3: b: u32;"), {"B0206": "wire"}),
    "archive widened": (ARCHIVE.format("2: b: u8;"), ARCHIVE.format("2: b: u64;"), {}),
    "archive string to bytes": (ARCHIVE.format("2: b: string;"), ARCHIVE.format("2: b: bytes;"), {}),
    "archive reservation dropped": (ARCHIVE.format("reserved 2;"), ARCHIVE.format(""), {"B0209": "wire"}),
    "reserved range kept in a larger one": (ARCHIVE.format("reserved 3..5;"), ARCHIVE.format("reserved 2..9;"), {}),
    "reserved range kept in two": (ARCHIVE.format("reserved 3..6;"), ARCHIVE.format("reserved 3..4, 5..6;"), {}),
    "reserved range begun later": (ARCHIVE.format("reserved 3..5;"), ARCHIVE.format("reserved 4..5;"), {"B0209": "wire"}),
    "reserved range ended earlier": (ARCHIVE.format("reserved 3..5;"), ARCHIVE.format("reserved 3..4;"), {"B0209": "wire"}),
    "reserved range dropped": (ARCHIVE.format("reserved 3..5;"), ARCHIVE.format(""), {"B0209": "wire"}),
    "reserved number used, the others dropped": (
        ARCHIVE.format("reserved 3..5;"),
        ARCHIVE.format("3: b: u32?;"),
        {"B0209": "wire", "B0210": "wire"},
    ),
    "reserved number at the end used": (
        ARCHIVE.format("reserved 3..5;"),
        ARCHIVE.format("5: b: u32?;"),
        {"B0209": "wire", "B0210": "wire"},
    ),
    "reserved number used, the others kept": (
        ARCHIVE.format("reserved 3..5;"),
        ARCHIVE.format("3: b: u32?; reserved 4..5;"),
        {"B0210": "wire"},
    ),
    "reserved name dropped": (ARCHIVE.format('reserved "b";'), ARCHIVE.format(""), {"B0209": "wire"}),
    "archive default removed": (ARCHIVE.format("2: b: u32 = 5;"), ARCHIVE.format("2: b: u32;"), {"B0207": "wire"}),
    "archive default changed": (ARCHIVE.format("2: b: u32 = 5;"), ARCHIVE.format("2: b: u32 = 6;"), {"B0207": "behaviour"}),
    "default of another sign": (ARCHIVE.format("2: b: f64 = 0.0;"), ARCHIVE.format("2: b: f64 = -0.0;"), {"B0207": "behaviour"}),
    "default nan kept": (ARCHIVE.format("2: b: f64 = nan;"), ARCHIVE.format("2: b: f64 = nan;"), {}),
    # enums, flags, unions
    "closed member added": ("enum E: u8 { a = 0 }", "enum E: u8 { a = 0, b = 1 }", {"B0301": "wire"}),
    "open member added": ("open enum E: u8 { a = 0 }", "open enum E: u8 { a = 0, b = 1 }", {}),
    "open member removed": ("open enum E: u8 { a = 0, b = 1 }", "open enum E: u8 { a = 0 }", {"B0302": "source"}),
    "member renumbered": ("enum E: u8 { a = 0 }", "enum E: u8 { a = 1 }", {"B0303": "wire"}),
    "member renamed": ("enum E: u8 { a = 0 }", "enum E: u8 { b = 0 }", {"B0306": "source"}),
    "enum wider": ("enum E: u8 { a = 0 }", "enum E: u16 { a = 0 }", {"B0304": "wire layout"}),
    "enum opened": ("enum E: u8 { a = 0 }", "open enum E: u8 { a = 0 }", {"B0305": "source behaviour"}),
    "enum closed": ("open enum E: u8 { a = 0 }", "enum E: u8 { a = 0 }", {"B0305": "wire source"}),
    "flag added": ("flags F: u8 { a }", "flags F: u8 { a, b }", {}),
    "flags wider": ("flags F: u8 { a }", "flags F: u16 { a }", {"B0304": "wire layout"}),
    "flag removed": ("flags F: u8 { a, b }", "flags F: u8 { a }", {"B0302": "source"}),
    "closed member removed": ("enum E: u8 { a = 0, b = 1 }", "enum E: u8 { a = 0 }", {"B0302": "wire source"}),
    "flag moved": ("flags F: u8 { a }", "flags F: u8 { b, a }", {"B0303": "wire"}),
    "alternative added": ("union U { 1: a: u8; }", "union U { 1: a: u8; 2: b: string; }", {"B0311": "wire"}),
    "archive alternative added": ("@tier(archive) union U { 1: a: u8; }", "@tier(archive) union U { 1: a: u8; 2: b: string; }", {"B0311": "behaviour"}),
    "alternatives in another order": ("union U { 1: a: u8; 2: b: string; }", "union U { 2: b: string; 1: a: u8; }", {}),
    "another order in another tier": ("struct S { a: u32; b: u8; }", "@tier(febird) struct S { b: u8; a: u32; }", {"B0501": "wire layout"}),
    "alternative removed": ("union U { 1: a: u8; 2: b: string; }", "union U { 1: a: u8; }", {"B0312": "wire source"}),
    # tiers
    "tier by a new field": ("struct S { a: u8; }", "struct S { a: u8; b: string; }", {"B0501": "wire layout"}),
    "tier asked for": ("struct S { a: u8; }", "@tier(febird) struct S { a: u8; }", {"B0501": "wire layout"}),
    "tier of a held struct": (
        "struct S { a: u8; } struct T { s: S; }",
        "struct S { a: u8; b: string; } struct T { s: S; }",
        {"B0501": "wire layout"},
    ),
    "tier by another type": ("struct S { a: u8; }", "struct S { a: string; }", {"B0501": "wire layout source"}),
    # services
    "service removed": ("service I { f(); }", "", {"B0601": "wire source"}),
    "method appended": ("service I { f(); }", "service I { f(); g(); }", {}),
    "method inserted": ("service I { f(); }", "service I { g(); f(); }", {}),
    "methods in another order": ("service I { f(); g(); }", "service I { g(); f(); }", {}),
    "method removed": ("service I { f(); g(); }", "service I { g(); }", {"B0602": "wire source"}),
    "method renamed": ("service I { f(); }", 'service I { @was("f") g(); }', {"B0604": "source"}),
    "scope": ("agent c: string; service I { f(); }", "agent c: string; service I per c { f(); }", {"B0605": "wire source behaviour"}),
    "oneway": ("service I { f(); }", "service I { @oneway f(); }", {"B0606": "wire source behaviour"}),
    "idempotency lost": ("service I { @idempotent f(); }", "service I { f(); }", {"B0607": "behaviour"}),
    "idempotency won": ("service I { f(); }", "service I { @idempotent f(); }", {}),
    "order lost": ("service I { @ordered f(); }", "service I { f(); }", {"B0615": "behaviour"}),
    "extension gained": ("service A { f(); } service I { g(); }", "service A { f(); } service I extends A { g(); }", {}),
    "extension lost, methods kept": (
        "service A { f(); } service I extends A { g(); }",
        "service A { f(); } service I { f(); g(); }",
        {"B0616": "wire source", "B0617": "source"},
    ),
    "extension through another": (
        "service A { f(); } service I extends A { g(); }",
        "service A { f(); } service B extends A { h(); } service I extends B { g(); }",
        {},
    ),
    "methods moved into an extended service": (
        "service I { f(); g(); }",
        "service A { f(); } service I extends A { g(); }",
        {"B0617": "source"},
    ),
    "method of an extended service gone": (
        "service A { f(); } service I extends A { g(); }",
        "service A { } service I extends A { g(); }",
        {"B0602": "wire source"},
    ),
    "order won": ("service I { f(); }", "service I { @ordered f(); }", {}),
    "error added": ("error E { } service I { f(); }", "error E { } service I { f() throws E; }", {"B0608": "behaviour"}),
    "error removed": ("error E { } service I { f() throws E; }", "error E { } service I { f(); }", {"B0608": "wire source"}),
    "batch smaller": ("service I { @batch(max = 9) f(); }", "service I { @batch(max = 8) f(); }", {"B0609": "behaviour"}),
    "deadline shorter": ("service I { f(); }", "service I { @deadline(1s) f(); }", {"B0610": "behaviour"}),
    "deadline longer": ("service I { @deadline(1s) f(); }", "service I { @deadline(2s) f(); }", {}),
    "cached": ("service I { f() -> u8; }", "service I { @cached(entries = 9) f() -> u8; }", {"B0613": "behaviour"}),
    "cached for a time": (
        "service I { f() -> u8; }",
        "service I { @cached(entries = 9, ttl = 1ns) f() -> u8; }",
        {"B0613": "behaviour"},
    ),
    "cached for longer": (
        "service I { @cached(entries = 9, ttl = 1s) f() -> u8; }",
        "service I { @cached(entries = 9, ttl = 2s) f() -> u8; }",
        {"B0613": "behaviour"},
    ),
    "cached without an end": (
        "service I { @cached(entries = 9, ttl = 1h) f() -> u8; }",
        "service I { @cached(entries = 9) f() -> u8; }",
        {"B0613": "behaviour"},
    ),
    "errors cached": (
        "error E { } service I { @cached(entries = 9) f() -> u8 throws E; }",
        "error E { } service I { @cached(entries = 9, errors = true) f() -> u8 throws E; }",
        {"B0613": "behaviour"},
    ),
    "errors cached as before": (
        "error E { } service I { @cached(entries = 9, errors = true) f() -> u8 throws E; }",
        "error E { } service I { @cached(entries = 8, errors = true) f() -> u8 throws E; }",
        {},
    ),
    "cached as long, more of it": (
        "service I { @cached(entries = 9, ttl = 1s) f() -> u8; }",
        "service I { @cached(entries = 10, ttl = 1s) f() -> u8; }",
        {},
    ),
    "cached for shorter": (
        "service I { @cached(entries = 9) f() -> u8; }",
        "service I { @cached(entries = 9, ttl = 1h) f() -> u8; }",
        {},
    ),
    "cached no more": ("service I { @cached(entries = 9) f() -> u8; }", "service I { f() -> u8; }", {}),
    "parameter added": ("service I { f(a: u8); }", "service I { f(a: u8, b: u8 = 1); }", {"B0201": "wire layout source"}),
    "default in front of a parameter": ("service I { f(a: u8, b: u8); }", "service I { f(a: u8 = 1, b: u8); }", {"B0207": "source"}),
    "default behind a parameter": ("service I { f(a: u8, b: u8?, c: u8?); }", "service I { f(a: u8, b: u8? = 1, c: u8?); }", {}),
    "result added": ("service I { f() -> (a: u8); }", "service I { f() -> (a: u8, b: u8); }", {"B0201": "wire layout"}),
    "result unwrapped": ("service I { f() -> (value: u8); }", "service I { f() -> u8; }", {"B0614": "source"}),
    "stream": ("service I { f() -> list<u8>; }", "service I { f() -> stream<u8>; }", {"B0611": "wire source"}),
    "topic removed": ("struct S { a: u8; } topic T : S;", "struct S { a: u8; }", {"B0701": "wire source"}),
    "topic type": (
        "struct S { a: u8; } struct R { a: u8; } topic T : S;",
        "struct S { a: u8; } struct R { a: u8; } topic T : R;",
        {"B0702": "wire source"},
    ),
    "topic of another name in C++": ("struct S { a: u8; } topic T : S;", 'struct S { a: u8; } @cpp.name("U") topic T : S;', {"B0105": "source"}),
    "less kept": ("struct S { a: u8; } @replay(9) topic T : S;", "struct S { a: u8; } @replay(8) topic T : S;", {"B0703": "behaviour"}),
    "nothing kept": ("struct S { a: u8; } @replay(9) topic T : S;", "struct S { a: u8; } topic T : S;", {"B0703": "behaviour"}),
    "more kept": ("struct S { a: u8; } topic T : S;", "struct S { a: u8; } @replay(9) topic T : S;", {}),
    "policy taken away": ("struct S { a: u8; } topic T : S;", "struct S { a: u8; } @overflow(drop_oldest, block) topic T : S;", {"B0704": "behaviour"}),
    "another default policy": ("struct S { a: u8; } @overflow(block, disconnect) topic T : S;", "struct S { a: u8; } @overflow(disconnect, block) topic T : S;", {"B0704": "behaviour"}),
    "policies in another order": ("struct S { a: u8; } topic T : S;", "struct S { a: u8; } @overflow(block, disconnect, drop_newest, drop_oldest) topic T : S;", {}),
    "policy added": ("struct S { a: u8; } @overflow(block) topic T : S;", "struct S { a: u8; } @overflow(block, drop_newest) topic T : S;", {}),
    "stream of parameters": ("service I { f(a: list<u8>); }", "service I { f(a: stream<u8>); }", {"B0611": "wire source"}),
    "stream of other parameters": ("service I { f(a: stream<u8>); }", "service I { f(a: stream<u16>); }", {"B0611": "wire source"}),
    # declarations of other kinds, and names in target languages
    "struct to error": ("struct S { a: u32; }", "error S { a: u32; b: u8; }", {"B0103": "wire layout source"}),
    "constant to struct": ("const A: u32 = 1;", "struct A { a: u32; }", {"B0103": "wire source"}),
    "struct to constant": ("struct A { a: u32; }", "const A: u32 = 1;", {"B0103": "wire source"}),
    "service to struct": ("service A { f(); }", "struct A { a: u32; }", {"B0103": "wire source"}),
    "struct to service": ("struct A { a: u32; }", "service A { f(); }", {"B0103": "wire source"}),
    "topic to constant": ("struct S { a: u8; } topic T : S;", "struct S { a: u8; } const T: u8 = 1;", {"B0103": "wire source"}),
    "constant to topic": ("struct S { a: u8; } const T: u8 = 1;", "struct S { a: u8; } topic T : S;", {"B0103": "wire source"}),
    "agent to constant": ("agent c: string;", "const c: u8 = 1;", {"B0103": "wire source"}),
    "constant to agent": ("const c: u8 = 1;", "agent c: string;", {"B0103": "wire source"}),
    "constant of another type": ("const A: u32 = 1;", "const A: u64 = 1;", {"B0104": "source"}),
    "constant removed": ("const A: u32 = 1;", "", {"B0102": "source"}),
    "agent removed": ("agent c: string;", "", {"B0102": "source"}),
    "alias of another type": ("type A = u32;", "type A = u64;", {"B0205": "source"}),
    "alias as it was": ("type A = u32;", "type A = u32;", {}),
    "field of another name in C++": ("struct S { a: u8; }", 'struct S { @cpp.name("b") a: u8; }', {"B0105": "source"}),
    "method of another name in C++": ("service I { f(); }", 'service I { @cpp.name("g") f(); }', {"B0105": "source"}),
    "service of another name in C++": ("service I { f(); }", '@cpp.name("J") service I { f(); }', {"B0105": "source"}),
    "struct of another name in Python": ("struct S { a: u8; }", '@python.name("T") struct S { a: u8; }', {"B0105": "source"}),
    "agent type": ("agent c: string;", "agent c: u32;", {"B0801": "wire source"}),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=CASES.keys())
def test_a_change_breaks_what_its_rule_says(
    old: str, new: str, expected: dict[str, str], tmp_path: Path
) -> None:
    assert findings(tmp_path, old, new) == expected
    assert set(expected) <= set(RULES)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("a(); c();", {"B0602": "method `b` of service `a.I` is gone"}),
        ("a(); b2(); c();", {"B0602": '; if `b2` took its place, write @was("b") before it'}),
        ('a(); @was("b") b2(); c();', {"B0604": "method `b` of service `a.I` is called `b2` now"}),
        ("z(); a(); b(); c();", {}),
        ("a(); c(); b();", {}),
        ("a(); b();", {"B0602": "method `c` of service `a.I` is gone"}),
    ],
)
def test_methods_are_known_by_their_names_and_not_by_their_places(
    new: str, expected: dict[str, str], tmp_path: Path
) -> None:
    programs = []
    for methods in ("a(); b(); c();", new):
        path = tmp_path / "a.mfidl"
        path.write_text(f"module a; service I {{ {methods} }}")
        programs.append(check([str(path)]).program)
    old_program, new_program = programs
    assert old_program is not None
    assert new_program is not None

    found = {change.code: change.message for change in compare(old_program, new_program)}

    assert found.keys() == expected.keys()
    assert all(found[code].endswith(words) for code, words in expected.items())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            ARCHIVE.format("2: b: u32?;"),
            ARCHIVE.format(""),
            'field `b` of struct `a.S` is gone; reserve what old bytes hold: `reserved 2, "b";`',
        ),
        (
            ARCHIVE.format("2: b: u32?;"),
            ARCHIVE.format('reserved "b";'),
            "field `b` of struct `a.S` is gone; reserve what old bytes hold: `reserved 2;`",
        ),
        (
            ARCHIVE.format("2: b: u32?;"),
            ARCHIVE.format("reserved 2;"),
            'field `b` of struct `a.S` is gone; reserve what old bytes hold: `reserved "b";`',
        ),
        (
            ARCHIVE.format("2: b: u32;"),
            ARCHIVE.format('reserved 2, "b";'),
            "field `b` of struct `a.S` is gone; older readers need it",
        ),
        (
            ARCHIVE.format('reserved 2..4, 6, "c";'),
            ARCHIVE.format("reserved 3;"),
            'struct `a.S` does not reserve 2, 4, 6, "c" any more',
        ),
        (
            ARCHIVE.format("reserved 2;"),
            ARCHIVE.format("2: b: u32?;"),
            "field `b` of struct `a.S` uses number 2, which was reserved",
        ),
        (
            ARCHIVE.format('reserved "b";'),
            ARCHIVE.format("2: b: u32?;"),
            "field `b` of struct `a.S` uses the name, which was reserved",
        ),
        (
            "struct S { a: u32; b: u32; c: u32; }",
            "struct S { a: u32; c: u32; b: u32; }",
            "fields of struct `a.S` stand in another order",
        ),
        (
            "struct S { a: u8 @range(2..9); }",
            "struct S { a: u8 @range(3..9); }",
            "field `a` of struct `a.S` takes only 3..9 now, before 2..9",
        ),
        (
            "struct S { a: string; }",
            "struct S { a: string @length(1..); }",
            "field `a` of struct `a.S` takes only lengths of 1.. now, before any",
        ),
        (
            "service I { @batch(max = 9) f(); }",
            "service I { @batch(max = 8) f(); }",
            "method `a.I.f` takes 8 items a message now, before 9",
        ),
        (
            "service I { f(); }",
            "service I { @batch(max = 8) f(); }",
            "method `a.I.f` takes 8 items a message now, before any number",
        ),
        (
            "service I { f(); }",
            "service I { @deadline(1500ms) f(); }",
            "method `a.I.f` has 1.5 s to answer now, before 30 s",
        ),
        (
            "error E { } error F { } service I { f() throws E; }",
            "error E { } error F { } service I { f() throws E, F; }",
            "method `a.I.f` throws `a.F` too, which older callers do not know",
        ),
        (
            "error E { } error F { } service I { f() throws E; }",
            "error E { } error F { } service I { f() throws F, E; }",
            "method `a.I.f` threw `a.E`, and throws `a.F`, `a.E`",
        ),
        (
            "agent c: string; service I { f(); }",
            "agent c: string; service I per c { f(); }",
            "service `a.I` was not per agent, and is per `a.c`",
        ),
        (
            "@tier(archive) struct A { 1: a: u32; } @tier(archive) struct B { 1: a: u32; } @tier(archive) struct S { 1: b: ref<B>?; }",
            "@tier(archive) struct A { 1: a: u32; } @tier(archive) struct B { 1: a: u32; } @tier(archive) struct S { 1: b: ref<B>?; 2: a: ref<A>?; }",
            "in graphs of `a.S` the table of `a.B` was number 2, and is 3",
        ),
        (
            "service I { f(a: u8); }",
            "service I { f(a: u8, b: u8 = 1); }",
            "parameter `b` of `a.I.f` is new; memcpy bytes have no room for it",
        ),
        ("const A: u32 = 1;", "const A: u64 = 1;", "constant `a.A` was u32, and is u64"),
        ("const A: u32 = 1;", "", "constant `a.A` is gone"),
        ("struct S { a: u8; } topic T : S;", "struct S { a: u8; }", "topic `a.T` is gone"),
        (
            "struct S { a: u8; } @replay(9) topic T : S;",
            "struct S { a: u8; } @replay(8) topic T : S;",
            "topic `a.T` keeps 8 messages of each agent now, before 9",
        ),
        (
            "struct S { a: u8; } @replay(9) topic T : S;",
            "struct S { a: u8; } topic T : S;",
            "topic `a.T` keeps no messages of each agent now, before 9",
        ),
        (
            "struct S { a: u8; } topic T : S;",
            "struct S { a: u8; } @overflow(drop_oldest) topic T : S;",
            "topic `a.T` does not allow `drop_newest`, `block`, `disconnect` any more",
        ),
        (
            "struct S { a: u8; } @overflow(block, disconnect) topic T : S;",
            "struct S { a: u8; } @overflow(disconnect, block) topic T : S;",
            "topic `a.T` has `disconnect` for subscribers that name no policy, before `block`",
        ),
        ("agent A: string;", "const A: u8 = 1;", "`a.A` was an agent, and is a constant"),
        (
            "struct S { a: u8; } struct A { a: u8; }",
            "struct S { a: u8; } topic A : S;",
            "`a.A` was a type, and is a topic",
        ),
        ("service A { f(); }", "struct A { a: u8; }", "`a.A` was a service, and is a type"),
        (
            "enum E: u8 { a = 0 }",
            "enum E: u8 { a = 0, b = 1 }",
            "member `b` of closed enum `a.E` is new; older readers refuse it",
        ),
        ("flags F: u8 { a }", "flags F: u8 { b, a }", "member `a` of flags `a.F` was 0, and is 1"),
        ("open enum E: u8 { a = 0 }", "enum E: u8 { a = 0 }", "enum `a.E` is closed now"),
        ("enum E: u8 { a = 0 }", "enum E: u16 { a = 0 }", "enum `a.E` was u8 wide, and is u16"),
        ("struct S { a: u8; }", "union S { 1: a: u8; }", "`a.S` was a struct, and is a union"),
    ],
)
def test_a_finding_says_what_changed(old: str, new: str, message: str, tmp_path: Path) -> None:
    for name, text in (("old", old), ("new", new)):
        (tmp_path / f"{name}.mfidl").write_text(f"module a; {text}")

    done = run(tmp_path / "new.mfidl", "--against", tmp_path / "old.mfidl", "--format", "json")

    assert message in [each["message"] for each in json.loads(done.stdout)["changes"]]


def test_a_tier_change_names_the_path_up_to_the_services(tmp_path: Path) -> None:
    rest = " struct Alone { s: list<S>; } struct T { s: list<S>; } service I { get() -> T; put(t: map<u8, T>); } service J { all(s: S?); }"
    programs = []
    for folder, text in (("old", "struct S { a: u8; }"), ("new", "struct S { a: string; }")):
        path = tmp_path / f"{folder}.mfidl"
        path.write_text("module a; " + text + rest)
        programs.append(check([str(path)]).program)
    old, new = programs
    assert old is not None
    assert new is not None

    changes = [change for change in compare(old, new) if change.code == "B0501"]

    assert [set(change.paths) for change in changes] == [
        {
            "S <- list in field T.s <- result of a.I.get",
            "S <- list in field T.s <- map in parameter `t` of a.I.put",
            "S <- parameter `s` of a.J.all",
            "S <- list in field Alone.s",
        }
    ]


def test_a_path_leads_up_to_a_topic_too(tmp_path: Path) -> None:
    for folder, text in (("old", "struct S { a: u8; }"), ("new", "struct S { a: string; }")):
        (tmp_path / f"{folder}.mfidl").write_text(f"module a; {text} struct T {{ s: S; }} topic U : T;")

    done = run(tmp_path / "new.mfidl", "--against", tmp_path / "old.mfidl")

    assert "note: S <- field T.s <- topic a.U" in done.output


@pytest.mark.parametrize(("kind", "told"), [("enum", True), ("open enum", False)])
def test_paths_are_told_where_bytes_break_and_not_where_only_sources_do(
    kind: str, told: bool, tmp_path: Path
) -> None:
    for name, members in (("old", "a = 0, b = 1"), ("new", "a = 0")):
        text = f"module a; {kind} E: u8 {{ {members} }} service I {{ f(e: E); }}"
        (tmp_path / f"{name}.mfidl").write_text(text)

    done = run(tmp_path / "new.mfidl", "--against", tmp_path / "old.mfidl")

    assert "error[B0302]: member `b` of enum `a.E` is gone" in done.output
    assert ("note: E <- parameter `e` of a.I.f" in done.output) is told


def test_a_path_is_the_shortest_that_leads_to_a_method(tmp_path: Path) -> None:
    rest = " struct T { s: S; } struct U { t: T; } service I { f(u: U, s: S, t: T); }"
    programs = []
    for folder, text in (("old", "struct S { a: u8; }"), ("new", "struct S { a: string; }")):
        path = tmp_path / f"{folder}.mfidl"
        path.write_text("module a; " + text + rest)
        programs.append(check([str(path)]).program)
    old, new = programs
    assert old is not None
    assert new is not None

    [change] = [change for change in compare(old, new) if change.code == "B0501"]

    assert change.paths == ("S <- parameter `s` of a.I.f",)


# What was, what is, and whether running peers adapt to all that the finding says.
BYTES = {
    "a field with a default": ("struct S { a: u32; }", "struct S { a: u32; b: u32 = 0; }", "service I { f(s: S); }", True),
    "an optional field": ("struct S { a: string; }", "struct S { a: string; b: u8?; }", "service I { f() -> list<S>; }", True),
    "of a topic": ("struct S { a: string; }", "struct S { a: string; b: u8?; }", "topic T : S;", True),
    "other order": ("struct S { a: u32; b: u16; }", "struct S { b: u16; a: u32; }", "service I { f(s: S); }", True),
    "a result": ("", "", "service I { f() -> (a: string{}); }", True),
    "without a default": ("struct S { a: u32; }", "struct S { a: u32; b: u32; }", "service I { f(s: S); }", False),
    "some values do not go over": ("struct S { a: string; b: u8; }", "struct S { a: string; b: u16; }", "service I { f(s: S); }", False),
    "a member of a closed enum": ("enum E: u8 { a = 0 }", "enum E: u8 { a = 0, b = 1 }", "service I { f(e: E); }", False),
    "a constraint": ("struct S { a: string; }", "struct S { a: string @length(..8); }", "service I { f(s: S); }", False),
    "of no service": ("struct S { a: u32; }", "struct S { a: u32; b: u32 = 0; }", "service I { f(); }", False),
    "of an archive, too": (
        "struct S { a: u32; }", "struct S { a: u32; b: u32 = 0; }",
        "@tier(archive) struct A { 1: s: S; } service I { f(s: S); g(a: A); }", False,
    ),
    "of a service that the older one lacks": (
        "struct S { a: u32; }", "struct S { a: u32; b: u32 = 0; } service J { f(s: S); }", "service I { f(); }", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rest", "adapted"), BYTES.values(), ids=BYTES.keys())
def test_changes_of_bytes_count_only_on_demand_if_peers_adapt(
    old: str, new: str, rest: str, adapted: bool, tmp_path: Path
) -> None:
    for name, text, more in (("old", old, ""), ("new", new, ", b: u8?")):
        (tmp_path / f"{name}.mfidl").write_text(f"module a; {text} {rest.replace('{}', more)}")
    arguments = (tmp_path / "new.mfidl", "--against", tmp_path / "old.mfidl")

    done = run(*arguments)
    changes = json.loads(run(*arguments, "--format", "json").stdout)["changes"]
    found = changes[0]  # an order of upgrades is behind

    assert set(found["impacts"]) <= {"wire", "layout"}
    assert (done.exit_code, found["adapted"]) == (0 if adapted else 1, adapted)
    assert f"{'warning' if adapted else 'error'}[{found['code']}]" in done.output
    assert ("running peers adapt to this" in done.output) is adapted
    assert run(*arguments, "--only", "wire").exit_code == 1
    assert run(*arguments, "--rollout", "hide").exit_code == done.exit_code


# What was, what is, and the exit codes of the profiles `default`, `live` and `strict`; what `live` says, if anything.
PROFILES = {
    "nothing": ("struct S { a: u32; } service I { f(s: S); }", "struct S { a: u32; } service I { f(s: S); }", (0, 0, 0), ""),
    "an optional field": (
        "struct S { a: u32; } service I { f(s: S); }", "struct S { a: u32; b: u32?; } service I { f(s: S); }",
        (0, 0, 1), "warning[B0501]",
    ),
    "an optional field of an archive": (
        ARCHIVE.format("") + " service I { f(s: S); }", ARCHIVE.format("2: b: u32?;") + " service I { f(s: S); }",
        (0, 0, 0), "",
    ),
    "an optional parameter": ("service I { f(a: u8); }", "service I { f(a: u8, b: u8?); }", (1, 0, 1), "warning[B0201]"),
    "an optional field of what only programs have": (
        "struct S { a: u32; } service I { f(); }", "struct S { a: u32; b: u32?; } service I { f(); }",
        (1, 0, 1), "help: neither a service, nor a topic, nor an archive has this",
    ),
    "an optional field within a stored archive": (
        "struct S { a: u32; } @tier(archive) struct A { 1: s: S; }",
        "struct S { a: u32; b: u32?; } @tier(archive) struct A { 1: s: S; }",
        (1, 1, 1), "error[B0501]",
    ),
    "a field that an archive needs": (ARCHIVE.format(""), ARCHIVE.format("2: b: u32;"), (1, 1, 1), "error[B0201]"),
    "a field that peers need": (
        "struct S { a: u32; } service I { f(s: S); }", "struct S { a: u32; b: u32; } service I { f(s: S); }",
        (1, 1, 1), "error[B0201]",
    ),
    "a field renamed": (
        "struct S { a: string; } service I { f(s: S); }",
        'struct S { b: string @was("a"); } service I { f(s: S); }', (1, 0, 1), "",
    ),
    "a type gone": ("struct S { a: u32; } struct T { a: u32; }", "struct T { a: u32; }", (1, 0, 1), ""),
    "a constraint": ("struct S { a: string; }", "struct S { a: string @length(..8); }", (1, 1, 1), "error[B0208]"),
    "a constant": ("const A: u32 = 1;", "const A: u32 = 2;", (1, 1, 1), "error[B0104]"),
    "a method more": ("service I { f(); }", "service I { f(); g(); }", (0, 0, 1), "warning[R0901]"),
    "a method less": ("service I { f(); g(); }", "service I { f(); }", (1, 1, 1), "error[B0602]"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "codes", "live"), PROFILES.values(), ids=PROFILES.keys())
def test_a_profile_chooses_what_counts(
    old: str, new: str, codes: tuple[int, int, int], live: str, tmp_path: Path
) -> None:
    for name, text in (("old", old), ("new", new)):
        (tmp_path / f"{name}.mfidl").write_text(f"module a; {text}")
    arguments = (tmp_path / "new.mfidl", "--against", tmp_path / "old.mfidl")
    done = [run(*arguments, f"--profile={name}") for name in ("default", "live", "strict")]

    assert tuple(each.exit_code for each in done) == codes
    assert live in done[1].output
    assert bool(done[1].output) is bool(live)
    assert ("error[" in done[1].output) is bool(codes[1])
    changes = json.loads(run(*arguments, "--profile=live", "--format=json").stdout)["changes"]
    assert any(each["fails"] for each in changes) is bool(codes[1])


def test_no_order_of_upgrades_counts_in_live_and_the_other_options_add_to_a_profile(tmp_path: Path) -> None:
    old, new = tmp_path / "old.mfidl", tmp_path / "new.mfidl"
    old.write_text("module a; service I { f(); }")
    new.write_text("module a; service I { g(); }")
    arguments = (new, "--against", old, "--profile=live", "--ignore=B0602")

    assert run(*arguments).exit_code == 1
    assert run(*arguments, "--ignore=R0902").exit_code == 0
    assert run(*arguments, "--rollout=show").exit_code == 0
    assert run(*arguments, "--only=source").exit_code == 0
    new.write_text("module a; service I { f(); g(); }")
    assert run(*arguments).exit_code == 0
    assert run(*arguments, "--rollout=fail").exit_code == 1


def test_the_page_has_the_table_of_profiles() -> None:
    columns = PROFILE_TABLE.values()
    rows = [
        f"| {each.value} | " + " | ".join(rule.rules[each].value for rule in columns) + " |"
        for each in Impact
    ]
    table = ["| impact | `default` | `live` | `strict` |", "|---|---|---|---|", *rows]

    assert list(PROFILE_TABLE) == ["default", "live", "strict"]
    assert "\n".join(table) in (Path(__file__).parents[2] / "docs/evolution.md").read_text()


# What was, what is; the order of upgrades, and the methods that older clients at newer servers cannot call, and
# newer ones at older servers.
ROLLOUTS = {
    "a method more": ("service I { f(); }", "service I { f(); g(); }", "providers first", [], ["I.g: method only here"]),
    "a method less": ("service I { f(); g(); }", "service I { f(); }", "consumers first", ["I.g: method only here"], []),
    "a method in another's place": (
        "service I { f(); }", "service I { g(); }", "none", ["I.f: method only here"], ["I.g: method only here"],
    ),
    "a method renamed": ("service I { f(); }", 'service I { @was("f") g(); }', "any", [], []),
    "other order": ("service I { f(); g(); }", "service I { g(); f(); }", "any", [], []),
    "a field with a default": (
        ARCHIVE.format("") + " service I { f(s: list<S>); }",
        ARCHIVE.format("2: b: u32 = 5;") + " service I { f(s: list<S>); }",
        "any", [], [],
    ),
    "a field without one": (
        "struct S { a: u8; } service I { f(s: S); g() -> S; }",
        "struct S { a: u8; b: u8; } service I { f(s: S); g() -> S; }",
        "none", ["I.f: field S.b: only there, and has no default"], ["I.g: field S.b: only here, and has no default"],
    ),
    "a member of an open enum": (
        "open enum E: u8 { a = 0 } service I { f(e: E); }",
        "open enum E: u8 { a = 0, b = 1 } service I { f(e: E); }",
        "any", [], [],
    ),
    "a parameter": ("service I { f(); }", "service I { f(a: u8); }", "consumers first",
                    ["I.f: parameter a: only there, and has no default"], []),
    "a result": ("service I { f(); }", "service I { f() -> u8; }", "providers first",
                 [], ["I.f: result value: only here, and has no default"]),
    "another type": ("service I { f(a: u8); }", "service I { f(a: string); }", "none",
                     ["I.f: parameter a: u8 here, string there"], ["I.f: parameter a: string here, u8 there"]),
    "per agent": (
        "agent c: string; service I { f(); }", "agent c: string; service I per c { f(); }", "none",
        ["I: per nothing here, per c string there"], ["I: per c string here, per nothing there"],
    ),
    "a type that it does not use": (
        "struct S { a: u8; } service I { f(); }", "struct S { a: u8; b: u8; } service I { f(); }", "any", [], [],
    ),
    "what is outside of the fingerprint": (
        "service I { f(a: u8) -> u8; }",
        "service I { @deadline(1s) @idempotent f(a: u8 = 2 @range(1..3)) -> u8; }",
        "any", [], [],
    ),
    "a topic's value": (
        "struct S { a: u8; } topic I : S;", "struct S { a: u8; b: u8; } topic I : S;", "providers first",
        [], ["I: field S.b: only here, and has no default"],
    ),
}  # fmt: skip


def rolled(tmp_path: Path, old: str, new: str, *options: str) -> Result:
    for name, text in (("old", old), ("new", new)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.mfidl").write_text(f"module a; {text}")
    return run(tmp_path / "new", "--against", tmp_path / "old", *options)


@pytest.mark.parametrize(("old", "new", "order", "older", "newer"), ROLLOUTS.values(), ids=ROLLOUTS.keys())
def test_orders_of_upgrades_are_told_by_the_rules_that_hold_at_run_time(
    old: str, new: str, order: str, older: list[str], newer: list[str], tmp_path: Path
) -> None:
    done = rolled(tmp_path, old, new, "--format", "json")
    told = json.loads(done.stdout)
    [found] = told["rollout"]

    assert (found["name"], found["order"]) == ("a.I", order)
    assert (found["older"]["refused"], found["newer"]["refused"]) == (older, newer)
    assert found["here"]["file"].endswith("new/a.mfidl")
    assert found["before"]["file"].endswith("old/a.mfidl")
    codes = [each["code"] for each in told["changes"] if each["impacts"] == ["rollout"]]
    assert codes == {"any": [], "none": ["R0902"]}.get(order, ["R0901"])


def test_methods_of_which_some_values_do_not_go_over_are_named(tmp_path: Path) -> None:
    done = rolled(tmp_path, "service I { f(a: u16); }", "service I { f(a: u32); }", "--format", "json")
    [found] = json.loads(done.stdout)["rollout"]

    assert found["order"] == "any"
    assert (found["older"]["checked"], found["newer"]["checked"]) == ([], ["f"])


def test_a_replicated_method_of_which_some_values_do_not_go_over_asks_for_an_order(tmp_path: Path) -> None:
    old, new = (
        "service I { @replicated(pattern = chain) put(n: u32); }",
        "service I { @replicated(pattern = chain) put(n: u64); }",
    )
    [found] = json.loads(rolled(tmp_path, old, new, "--format", "json").stdout)["rollout"]

    assert found["order"] == "providers first"
    assert found["newer"]["refused"] == ["I.put: a replica stops at a message whose values do not go over"]


def test_a_result_of_a_replicated_method_that_does_not_go_over_fails_its_call_alone(tmp_path: Path) -> None:
    old, new = (
        f"service I {{ @replicated(pattern = chain) put(n: u32) -> {result}; }}" for result in ("u32", "u64")
    )
    [found] = json.loads(rolled(tmp_path, old, new, "--format", "json").stdout)["rollout"]

    assert (found["order"], found["older"]["checked"]) == ("any", ["put"])


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ([], 0, True),
        (["--rollout=show"], 0, True),
        (["--rollout=fail"], 1, True),
        (["--rollout=hide"], 0, False),
        (["--only=rollout"], 1, True),
        (["--only=wire"], 0, False),
        (["--rollout=fail", "--ignore=R0901"], 0, False),
    ],
)
def test_peers_that_cannot_be_upgraded_in_any_order_are_told_and_fail_on_demand(
    options: list[str], code: int, told: bool, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.mfidl", tmp_path / "new.mfidl"
    old.write_text("module sf1.search; service Index { f(); } service Other { f(); }")
    new.write_text("module sf1.search; service Index { f(); g(); } service Other { f(); }")

    done = run(new, "--against", old, *options)

    assert done.exit_code == code
    words = (
        "warning[R0901]: upgrade the servers of `sf1.search.Index` first: newer clients fail at older servers "
        "(Index.g: method only here) [rollout]"
    )
    assert (words in done.output) is told
    assert bool(done.output) is told
    assert run(new, "--against", new, "--rollout=fail").exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "name", "reason"),
    [
        ("service I { f(); } service J { }", "service J { }", "a.I", "I is gone"),
        ("struct S { a: u8; } topic I : S;", "struct S { a: u8; }", "a.I", "I is gone"),
        (
            "service J { f(); } service I extends J { }",
            "service J { f(); } service I { f(); }",
            "a.I",
            "I is not found as a.J any more",
        ),
    ],
    ids=["a service", "a topic", "a service that it extended"],
)
def test_consumers_go_first_where_they_find_nobody_any_more(
    old: str, new: str, name: str, reason: str, tmp_path: Path
) -> None:
    done = rolled(tmp_path, old, new, "--format", "json", "--only", "rollout")
    told = json.loads(done.stdout)
    [found] = [each for each in told["rollout"] if each["name"] == name]

    assert done.exit_code == 1
    assert (found["order"], found["older"]["refused"], found["newer"]["refused"]) == (
        "consumers first",
        [reason],
        [],
    )
    assert [each["code"] for each in told["changes"]] == ["R0901"]


def test_a_service_of_a_module_that_nobody_imports_any_more_is_no_matter_of_upgrades(tmp_path: Path) -> None:
    for name, text in (
        ("old", 'module a; import "b.mfidl"; service I { f(s: b.S); }'),
        ("new", "module a; service I { f(); }"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.mfidl").write_text(text)
        (tmp_path / name / "b.mfidl").write_text("module b; struct S { a: u8; } service Other { }")
    done = run(tmp_path / "new" / "a.mfidl", "--against", tmp_path / "old" / "a.mfidl", "--format", "json")
    assert [each["name"] for each in json.loads(done.stdout)["rollout"]] == ["a.I"]


def test_many_reasons_are_counted(tmp_path: Path) -> None:
    done = rolled(tmp_path, "service I { }", f"service I {{ {''.join(f'm{at}(); ' for at in range(8))} }}")

    assert "(I.m0: method only here; I.m1: method only here" in done.output
    assert "I.m3: method only here; 4 more)" in done.output


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["breaking", *map(str, arguments)])


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A schema and one that it imports, committed; then one field removed from the imported one."""
    top = tmp_path / "repo"
    (top / "idl" / "x").mkdir(parents=True)
    (top / "idl" / "x" / "base.mfidl").write_text("module x.base;\nstruct S { a: string; b: u8; }\n")
    (top / "idl" / "a.mfidl").write_text(
        'module a;\nimport "x/base.mfidl";\nservice I { f() -> x.base.S; }\n'
    )
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")
    (top / "idl" / "x" / "base.mfidl").write_text("module x.base;\nstruct S { a: string; }\n")
    return top


def test_a_git_revision_is_the_baseline_of_a_file_and_its_imports(repository: Path) -> None:
    done = run(repository / "idl" / "a.mfidl", "--against", "HEAD")

    assert done.exit_code == 1
    assert "error[B0202]: field `b` of struct `x.base.S` is gone [wire, source]" in done.output
    assert "--> HEAD:idl/x/base.mfidl:2:" in done.output
    assert "note: S <- result of a.I.f" in done.output
    git(repository, "commit", "-q", "-a", "-m", "second")
    assert run(repository / "idl" / "a.mfidl", "--against", "HEAD").exit_code == 0
    assert run(repository / "idl" / "a.mfidl", "--against", "HEAD~1").exit_code == 1


def test_an_import_path_inside_of_the_repository_is_that_of_the_revision(repository: Path) -> None:
    (repository / "idl" / "a.mfidl").write_text(
        'module a;\nimport "base.mfidl";\nservice I { f() -> x.base.S; }\n'
    )
    git(repository, "commit", "-q", "-m", "imports by a path", "idl/a.mfidl")

    done = run("-I", repository / "idl" / "x", repository / "idl" / "a.mfidl", "--against", "HEAD")

    assert "field `b` of struct `x.base.S` is gone" in done.output


def test_an_import_path_outside_of_the_repository_is_the_same_for_both(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "text.mfidl").write_text("module text; struct T { a: u8; }")
    (repository / "idl" / "a.mfidl").write_text('module a; import "text.mfidl"; service I { f() -> text.T; }')
    git(repository, "commit", "-q", "-m", "imports from outside", "idl/a.mfidl")

    done = run("-I", tmp_path / "shared", repository / "idl" / "a.mfidl", "--against", "HEAD")

    assert (done.exit_code, done.output) == (0, "")


def test_a_folder_is_the_baseline_of_a_folder_and_a_removed_module_is_seen(tmp_path: Path) -> None:
    for folder, names in (("old", "ab"), ("new", "a")):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.mfidl").write_text(f"module {name}; struct S {{ a: u8; }}")

    done = run(tmp_path / "new", "--against", tmp_path / "old")

    assert done.exit_code == 1
    assert "module `b` is gone" in done.output


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    """`old` and `new`: a service below `api`, which imports from the root; the newer one lost a field."""
    for folder, fields in (("old", "a: string; b: u8;"), ("new", "a: string;")):
        top = tmp_path / folder
        (top / "api").mkdir(parents=True)
        (top / "common").mkdir()
        (top / "common" / "base.mfidl").write_text(f"module common.base; struct S {{ {fields} }}")
        (top / "api" / "other.mfidl").write_text('module api.other; import "common/base.mfidl";')
        (top / "api" / "svc.mfidl").write_text(
            'module api.svc; import "common/base.mfidl"; import "api/other.mfidl";\n'
            "service I { f() -> common.base.S; }"
        )
    return tmp_path


@pytest.mark.parametrize("path", ["api/svc.mfidl", "api", "."])
def test_the_imports_of_older_schemas_are_the_older_ones(trees: Path, path: str) -> None:
    new, old = trees / "new", trees / "old"

    done = run("-I", new, new / path, "--against", old / path)

    assert done.exit_code == 1, done.output
    assert "error[B0202]: field `b` of struct `common.base.S` is gone" in done.output
    assert str(old / "common" / "base.mfidl") in done.output


def test_an_import_path_below_the_root_has_its_counterpart(trees: Path) -> None:
    for folder in ("old", "new"):
        (trees / folder / "api" / "svc.mfidl").write_text(
            'module api.svc; import "base.mfidl"; service I { f() -> common.base.S; }'
        )

    done = run(
        "-I", trees / "new/common", trees / "new/api/svc.mfidl", "--against", trees / "old/api/svc.mfidl"
    )

    assert "field `b` of struct `common.base.S` is gone" in done.output


def test_an_import_path_outside_of_both_trees_serves_both(trees: Path) -> None:
    (trees / "shared").mkdir()
    (trees / "shared" / "text.mfidl").write_text("module text; struct T { a: u8; }")
    for folder in ("old", "new"):
        (trees / folder / "api" / "svc.mfidl").write_text(
            'module api.svc; import "text.mfidl"; service I { f() -> text.T; }'
        )

    newer = ["-I", trees / "new", "-I", trees / "shared", trees / "new/api/svc.mfidl"]
    done = run(*newer, "--against", trees / "old")

    assert done.exit_code == 0, done.output


def test_a_file_that_the_baseline_lacks_is_named_and_breaks_nothing(repository: Path) -> None:
    new = repository / "idl" / "new.mfidl"
    new.write_text("module fresh; struct S { a: u8; }")

    done = run(new, "--against", "HEAD")

    assert done.exit_code == 0
    assert "new, nothing to compare it with" in done.output


def test_json_only_and_ignore(tmp_path: Path) -> None:
    old, new = tmp_path / "old.mfidl", tmp_path / "new.mfidl"
    old.write_text("module a; const A: u8 = 1; struct S { a: string; b: u8; }")
    new.write_text("module a; const A: u8 = 2; struct S { a: string; }")

    told = json.loads(run(new, "--against", old, "--format", "json").stdout)

    assert [(each["code"], each["impacts"]) for each in told["changes"]] == [
        ("B0202", ["wire", "source"]),
        ("B0104", ["behaviour"]),
    ]
    assert told["changes"][0]["before"] == {"file": str(old), "line": 1, "column": 50}
    only = json.loads(run(new, "--against", old, "--format", "json", "--only", "wire").stdout)
    assert [each["code"] for each in only["changes"]] == ["B0202"]
    assert run(new, "--against", old, "--ignore", "B0104", "--ignore", "B0202").exit_code == 0


@pytest.mark.parametrize(
    ("against", "said"),
    [
        ("no-such-ref", "'no-such-ref' is not a file, not a folder, and not a git revision"),
        ("--help-me", "'--help-me' is not a file"),
    ],
)
def test_an_unknown_baseline_is_named(repository: Path, against: str, said: str) -> None:
    done = run(repository / "idl" / "a.mfidl", f"--against={against}")

    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "git is not installed"),
        ("exec sleep 60", "git gave no answer within 0.05 s"),
        ("echo one >&2; echo the last line >&2; exit 1", ": the last line"),
    ],
)
def test_a_git_that_cannot_answer_is_said_to_be_so(
    script: str | None, said: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sleep").symlink_to("/bin/sleep")
    if script is not None:
        (programs / "git").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    if "no answer" in said:
        monkeypatch.setattr("mfidl.breaking.baseline._GIT_SECONDS", 0.05)

    done = run(repository / "idl" / "a.mfidl", "--against=HEAD")

    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def test_a_broken_baseline_is_shown_as_such(tmp_path: Path) -> None:
    old, new = tmp_path / "old.mfidl", tmp_path / "new.mfidl"
    old.write_text("module a; struct S { a: u33; }")
    new.write_text("module a; struct S { a: u32; }")

    done = run(new, "--against", old)

    assert done.exit_code == 1
    assert "The older schemas have errors" in done.output
    assert "unknown type `u33`" in done.output


def test_an_unknown_rule_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    schema = tmp_path / "a.mfidl"
    schema.write_text("module a;")

    done = run(schema, "--against", schema, "--ignore", "B0110")

    assert done.exit_code == 2
    assert "'B0110' is not a rule" in done.output


def test_help_explains_each_rule() -> None:
    for code, rule in RULES.items():
        done = CliRunner().invoke(cli, ["help", code])
        assert done.exit_code == 0
        assert done.output == f"{code}: {rule.title}\n\n{rule.explanation}\n"
