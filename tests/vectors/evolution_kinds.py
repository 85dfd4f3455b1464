"""The changes of enums, flags, unions, archives, graphs, defaults and tiers. See evolution_table.py."""

from tests.vectors.evolution_table import ADAPTS, CHECKED, EQUAL, REFUSED, Change, Fault, Value, Way, same


def change(name: str, type_: str, before: str, after: str, there: Way, back: Way) -> Change:
    """Of a declared type that keeps its name."""
    return Change(name, type_, type_, there, back, before, after)


def adapts(*values: Value) -> Way:
    return Way(ADAPTS, values=values)


def checked(*values: Value) -> Way:
    return Way(CHECKED, values=values)


def equal(*texts: str) -> Way:
    return Way(EQUAL, values=same(*texts))


def refused(why: str) -> Way:
    return Way(REFUSED, why)


def _no_member(shown: str, enum: str = "$E") -> Fault:
    return Fault(f"{shown} is no member of {enum} in {{side}} schema")


def _no_bit(bit: int) -> Fault:
    return Fault(f"bit {bit} is none of $F in {{side}} schema")


def _enums() -> list[Change]:
    return [
        change("enum_kept", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 0, b = 1 }", equal('"b"'), equal('"a"')),
        change("closed_member_added", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 0, b = 1, c = 2 }",
               adapts(*same('"b"')), checked(*same('"b"'), ('"c"', _no_member("c (2)")))),
        change("open_member_added", "$E", "open enum $E: u8 { a = 0, b = 1 }", "open enum $E: u8 { a = 0, b = 1, c = 2 }",
               adapts(*same('"b"'), ("2", '"c"'), ("9", "9")), adapts(*same('"b"'), ('"c"', "2"))),
        change("enum_renumbered", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 5, b = 1 }", adapts(*same('"a"', '"b"')), adapts(*same('"a"', '"b"'))),
        change("enum_swapped", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 1, b = 0 }", adapts(*same('"a"', '"b"')), adapts(*same('"a"', '"b"'))),
        change("open_enum_renumbered", "$E", "open enum $E: u8 { a = 0, b = 1 }", "open enum $E: u8 { a = 5, b = 1 }",
               checked(*same('"a"', '"b"', "9"), ("5", _no_member("5"))), checked(*same('"a"', '"b"'), ("0", _no_member("0")))),
        change("enum_member_renamed", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 0, other = 1 }", adapts(('"b"', '"other"')), adapts(('"other"', '"b"'))),
        change("enum_opened", "$E", "enum $E: u8 { a = 0, b = 1 }", "open enum $E: u8 { a = 0, b = 1 }", adapts(*same('"b"')), checked(*same('"b"'), ("7", _no_member("7")))),
        change("enum_widens", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u32 { a = 0, b = 1 }", adapts(*same('"b"')), adapts(*same('"b"'))),
        change("open_enum_widens", "$E", "open enum $E: u8 { a = 0, b = 1 }", "open enum $E: u16 { a = 0, b = 1 }",
               adapts(*same('"b"', "200")), checked(*same('"b"', "200"), ("300", _no_member("300")))),
        change("enum_to_signed_base", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: i32 { a = -1, b = 1 }", adapts(*same('"a"', '"b"')), adapts(*same('"a"', '"b"'))),
        change("enum_without_anything_alike", "$E", "enum $E: u8 { a = 0 }", "enum $E: u8 { b = 1 }", checked(('"a"', _no_member("a (0)"))), checked(('"b"', _no_member("b (1)")))),
        change("enum_name_moves_to_a_number_of_another", "$E", "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 1 }",
               checked(*same('"a"'), ('"b"', _no_member("b (1)"))), adapts(*same('"a"'))),
        change("enum_flags", "$E", "enum $E: u8 { a = 0 }", "flags $E: u8 { a }", refused("type $E: [enum|flags]"), refused("type $E: [enum|flags]")),
        Change("enum_integer", "$E", "u8", refused("{value}: [$E|u8]"), refused("{value}: [$E|u8]"), "enum $E: u8 { a = 0 }", ""),
        Change("list_of_enums", "list<$E>", "list<$E>", adapts(*same('["a","b"]')),
               checked(('["a","c"]', Fault("c (2) is no member of $E in {side} schema", "[1]"))),
               "enum $E: u16 { a = 0, b = 1 }", "enum $E: u16 { a = 0, b = 1, c = 2 }"),
        Change("set_of_enums", "set<$E>", "set<$E>", adapts(('["a","b"]', '["b","a"]')), adapts(('["b","a"]', '["a","b"]')),
               "enum $E: u16 { a = 0, b = 1 }", "enum $E: u16 { a = 9, b = 1 }"),
        Change("map_of_enums", "map<$E, $E>", "map<$E, $E>", adapts(('{"a":"b","b":"a"}', '{"b":"a","a":"b"}')), adapts(),
               "enum $E: u8 { a = 0, b = 1 }", "enum $E: u8 { a = 9, b = 1 }"),
        change("flag_added", "$F", "flags $F: u8 { a, b }", "flags $F: u8 { a, b, c }", adapts(*same('["a","b"]'), ("[4]", '["c"]')), adapts(*same('["a"]'), ('["a","c"]', '["a",4]'))),
        change("flag_renumbered", "$F", "flags $F: u8 { a, b }", "flags $F: u8 { a = 3, b = 1 }",
               checked(*same('["a","b"]', "[]"), ("[8]", _no_bit(3))), checked(*same('["b"]'), ("[1]", _no_bit(0)))),
        change("flag_renamed", "$F", "flags $F: u8 { a, b }", "flags $F: u8 { a, other }", adapts(('["b"]', '["other"]')), adapts(('["a","other"]', '["a","b"]'))),
        change("flags_widen", "$F", "flags $F: u8 { a, b }", "flags $F: u16 { a, b }", adapts(*same('["a"]', '["b",128]')), checked(*same('["a"]'), ("[256]", _no_bit(8)))),
        change("flag_beyond_the_narrower_base", "$F", "flags $F: u8 { a }", "flags $F: u16 { a, high = 12 }", adapts(*same('["a"]')), checked(*same('["a"]'), ('["high"]', _no_bit(12)))),
    ]  # fmt: skip


def _unions() -> list[Change]:
    lacks = Fault("alternative c is not in {side} schema")
    return [
        change("union_kept", "$U", "union $U { 1: a: u32; 2: b: string; }", "union $U { 1: a: u32; 2: b: string; }", equal('{"a":1}'), equal('{"b":"x"}')),
        change("alternative_added", "$U", "union $U { 1: a: u32; 2: b: string; }", "union $U { 1: a: u32; 2: b: string; 3: c: bool; }",
               adapts(*same('{"a":1}', '{"b":"x"}')), checked(*same('{"a":1}'), ('{"c":true}', lacks))),
        change("alternative_renamed", "$U", "union $U { 1: a: u32; 2: b: string; }", "union $U { 1: a: u32; 2: other: string; }",
               adapts(('{"b":"x"}', '{"other":"x"}')), adapts(('{"other":"x"}', '{"b":"x"}'))),
        change("alternative_widens", "$U", "union $U { 1: a: u16; 2: b: string; }", "union $U { 1: a: u32; 2: b: string; }",
               adapts(*same('{"a":1}')), checked(*same('{"b":"x"}'), ('{"a":70000}', Fault("70000 does not fit u16 of {side} schema", ".a")))),
        change("alternative_of_another_type", "$U", "union $U { 1: a: u32; 2: b: string; }", "union $U { 1: a: u32; 2: b: u32; }",
               refused("alternative $U.b: [string|u32]"), refused("alternative $U.b: [string|u32]")),
        change("alternatives_renumbered", "$U", "union $U { 1: a: u32; 2: b: u32; }", "union $U { 3: a: u32; 2: b: u32; }",
               checked(*same('{"b":1}'), ('{"a":1}', Fault("alternative a is not in {side} schema"))),
               checked(*same('{"b":1}'), ('{"a":1}', Fault("alternative a is not in {side} schema")))),
        change("union_to_archive", "$U", "@tier(febird) union $U { 1: a: u32; 2: b: string; }", "@tier(archive) union $U { 1: a: u32; 2: b: string; }",
               adapts(*same('{"a":1}', '{"b":"x"}')), adapts(*same('{"a":1}', '{"b":""}'))),
        change("union_of_structs", "$U", "union $U { 1: a: $S; } struct $S { x: u16; }", "union $U { 1: a: $S; } struct $S { y: bool = true; x: u16; }",
               adapts(('{"a":{"x":1}}', '{"a":{"y":true,"x":1}}')), adapts(('{"a":{"y":false,"x":1}}', '{"a":{"x":1}}'))),
        change("union_struct", "$U", "union $U { 1: a: u32; }", "struct $U { a: u32; }", refused("type $U: [union|struct]"), refused("type $U: [union|struct]")),
        change("recursive_union", "$U", "union $U { 1: leaf: u32; 2: both: list<$U>; }", "union $U { 1: leaf: u64; 2: both: list<$U>; }",
               adapts(('{"both":[{"leaf":1},{"both":[]}]}', '{"both":[{"leaf":"1"},{"both":[]}]}')),
               checked(('{"both":[{"leaf":"4294967296"}]}', Fault("4294967296 does not fit u32 of {side} schema", ".both[0].leaf")))),
        Change("optional_union", "$U?", "$U?", adapts(*same("null", '{"a":1}')), checked(*same("null"), ('{"c":true}', lacks)),
               "union $U { 1: a: u32; }", "union $U { 1: a: u32; 3: c: bool; }"),
    ]  # fmt: skip


def _archives() -> list[Change]:
    a = "@tier(archive) struct $S"
    return [
        change("archive_kept", "$S", f"{a} {{ 1: a: u32; 2: b: string?; }}", f"{a} {{ 1: a: u32; 2: b: string?; }}", equal('{"a":1,"b":"x"}'), equal('{"a":1}')),
        change("archive_optional_added", "$S", f"{a} {{ 1: a: u32; }}", f"{a} {{ 1: a: u32; 2: b: string?; }}", adapts(*same('{"a":1}')), adapts(('{"a":1,"b":"x"}', '{"a":1}'))),
        change("archive_default_added", "$S", f"{a} {{ 1: a: u32; }}", f"{a} {{ 1: a: u32; 2: b: u32 = 7; }}", adapts(('{"a":1}', '{"a":1,"b":7}')), adapts(('{"a":1,"b":8}', '{"a":1}'))),
        change("archive_added_without_default", "$S", f"{a} {{ 1: a: u32; }}", f"{a} {{ 1: a: u32; 2: b: u32; }}",
               refused("field $S.b: [only new], and has no default"), adapts(('{"a":1,"b":8}', '{"a":1}'))),
        change("archive_renamed", "$S", f"{a} {{ 1: a: u32; 2: b: u32; }}", f"{a} {{ 1: a: u32; 2: other: u32; }}", adapts(('{"a":1,"b":2}', '{"a":1,"other":2}')), adapts(('{"a":1,"other":2}', '{"a":1,"b":2}'))),
        change("archive_renumbered", "$S", f"{a} {{ 1: a: u32; 2: b: u32 = 1; }}", f"{a} {{ 1: a: u32; 3: b: u32 = 1; }}", adapts(('{"a":1,"b":2}', '{"a":1,"b":1}')), adapts(('{"a":1,"b":2}', '{"a":1,"b":1}'))),
        change("archive_widens", "$S", f"{a} {{ 1: a: u16; 2: b: string; }}", f"{a} {{ 1: a: u32; 2: b: bytes; }}",
               adapts(('{"a":1,"b":"x"}', '{"a":1,"b":"eA=="}')),
               checked(('{"a":70000,"b":""}', Fault("70000 does not fit u16 of {side} schema", ".a")), ('{"a":1,"b":"/w=="}', Fault("no UTF-8, which string of {side} schema is", ".b")))),
        change("archive_of_another_type", "$S", f"{a} {{ 1: a: u32; }}", f"{a} {{ 1: a: string; }}", refused("field $S.a: [u32|string]"), refused("field $S.a: [u32|string]")),
        change("archive_becomes_optional", "$S", f"{a} {{ 1: a: u32; }}", f"{a} {{ 1: a: u32?; }}", adapts(*same('{"a":1}')), checked(*same('{"a":1}'), ("{}", Fault("absent, and {side} schema needs a value", ".a")))),
        change("archive_optional_gets_a_default", "$S", f"{a} {{ 1: a: u32?; }}", f"{a} {{ 1: a: u32 = 9; }}", adapts(*same('{"a":1}'), ("{}", '{"a":9}')), adapts(*same('{"a":1}'))),
        change("archive_nested", "$S", f"{a} {{ 1: a: list<$T>; }} @tier(archive) struct $T {{ 1: x: u32; }}", f"{a} {{ 1: a: list<$T>; }} @tier(archive) struct $T {{ 1: x: u32; 2: y: u8 = 3; }}",
               adapts(('{"a":[{"x":1},{"x":2}]}', '{"a":[{"x":1,"y":3},{"x":2,"y":3}]}')), adapts(('{"a":[{"x":1,"y":4}]}', '{"a":[{"x":1}]}'))),
        change("archive_map", "$S", f"{a} {{ 1: a: map<string, u32>; }}", f"{a} {{ 1: a: map<string, u64>; }}", adapts(('{"a":{"x":1}}', '{"a":{"x":"1"}}')), checked(('{"a":{"x":"1"}}', '{"a":{"x":1}}'))),
        change("archive_holds_memcpy", "$S", f"{a} {{ 1: a: $T; }} struct $T {{ x: u32; }}", f"{a} {{ 1: a: $T; }} struct $T {{ x: u64; }}",
               adapts(('{"a":{"x":1}}', '{"a":{"x":"1"}}')), checked(('{"a":{"x":"4294967296"}}', Fault("4294967296 does not fit u32 of {side} schema", ".a.x")))),
        change("graph_kept", "$S", f"{a} {{ 1: name: string; 2: next: ref<$S>?; }}", f"{a} {{ 1: name: string; 2: next: ref<$S>?; }}",
               equal('{"~S":[{"name":"a","next":1},{"name":"b","next":0}]}'), equal('{"~S":[{"name":"a","next":0}]}')),
        change("graph_widens", "$S", f"{a} {{ 1: x: u16; 2: next: ref<$S>?; }}", f"{a} {{ 1: x: u32; 2: next: ref<$S>?; }}",
               adapts(*same('{"~S":[{"x":1,"next":1},{"x":2,"next":0}]}', '{"~S":[{"x":1}]}')), checked(*same('{"~S":[{"x":1,"next":0}]}'))),
        change("graph_begins", "$S", f"{a} {{ 1: x: u16; }}", f"{a} {{ 1: x: u16; 2: next: ref<$S>?; }}",
               refused("type $S: values refer to each other [not old]"), refused("type $S: values refer to each other [not old]")),
        change("graph_to_febird", "$S", f"{a} {{ 1: x: u16; 2: next: ref<$S>?; }}", "@tier(febird) struct $S { x: u16; }",
               refused("type $S: values refer to each other [not new]"), refused("type $S: values refer to each other [not new]")),
        change("graph_of_two", "$S", f"{a} {{ 1: x: u16; 2: to: list<ref<$T>>; }} @tier(archive) struct $T {{ 1: back: ref<$S>?; }}",
               f"{a} {{ 1: x: u16; 2: to: list<ref<$T>>; 3: more: bool = true; }} @tier(archive) struct $T {{ 1: back: ref<$S>?; }}",
               adapts(('{"~S":[{"x":1,"to":[1,0]}],"~T":[{"back":0},{}]}', '{"~S":[{"x":1,"to":[0,1],"more":true}],"~T":[{},{"back":0}]}')),
               adapts(('{"~S":[{"x":1,"to":[0,0],"more":false}],"~T":[{"back":0}]}', '{"~S":[{"x":1,"to":[0,0]}],"~T":[{"back":0}]}'))),
        change("ref_to_another_kind", "$S", f"{a} {{ 2: next: ref<$S>?; 3: to: ref<$T>?; }} @tier(archive) struct $T {{ 1: x: u8; }}",
               f"{a} {{ 2: next: ref<$S>?; 3: to: ref<$T>?; }} @tier(archive) union $T {{ 1: x: u8; }}", refused("type $T: [struct|union]"), refused("type $T: [struct|union]")),
        change("ref_value", "$S", f"{a} {{ 2: next: ref<$S>?; 3: to: ref<$T>?; }} @tier(archive) struct $T {{ 1: x: u8; }}",
               f"{a} {{ 2: next: ref<$S>?; 3: to: $T?; }} @tier(archive) struct $T {{ 1: x: u8; }}", refused("field $S.to: [ref<$T>?|$T?]"), refused("field $S.to: [ref<$T>?|$T?]")),
    ]  # fmt: skip


def _defaults() -> list[Change]:
    """A field that only the newer schema has takes its default, of every type."""
    rows = (
        ("bool", "true", "true"), ("u8", "200", "200"), ("i64", "-5", '"-5"'), ("u64", "5", '"5"'), ("f32", "1.5", "1.5"), ("f64", "-0.25", "-0.25"),
        ("string", '"untitled"', '"untitled"'), ("bytes", '"\\x01\\xff"', '"Af8="'), ("duration", "250ms", '"0.25s"'),
        ("timestamp", '"2024-02-29T12:30:45Z"', '"2024-02-29T12:30:45Z"'),
        ("uuid", '"01234567-89ab-cdef-0123-456789abcdef"', '"01234567-89ab-cdef-0123-456789abcdef"'),
        ("list<u32>", "[1, 2]", "[1,2]"), ("set<string>", '["a", "b"]', '["a","b"]'), ("map<string, u32>", '{ "k": 3 }', '{"k":3}'), ("array<u16, 3>", "[7, 8, 9]", "[7,8,9]"),
        ("u32?", "6", "6"), ("$E", "$E.b", '"b"'), ("$F", "[$F.a, $F.b]", '["a","b"]'), ("$T", "{ x: 4 }", '{"x":4,"y":2}'), ("$U", '{ t: "u" }', '{"t":"u"}'), ("list<$T>", "[{ x: 1 }]", '[{"x":1,"y":2}]'),
    )  # fmt: skip
    declared = "enum $E: u8 { a = 0, b = 1 } flags $F: u8 { a, b } struct $T { x: u16; y: u8 = 2; } union $U { 1: n: u32; 2: t: string; }"
    made = []
    for type_, default, text in rows:
        name = "default_" + "".join(
            each if each.isalnum() else "_" for each in type_.replace("?", "_optional")
        ).strip("_")
        name = name.replace("default__", "default_named_") if "$" in type_ else name
        there = adapts(('{"a":1}', f'{{"a":1,"b":{text}}}'))
        made.append(
            change(
                name.lower(),
                "$S",
                "struct $S { a: u32; }",
                f"{declared} struct $S {{ a: u32; b: {type_} = {default}; }}",
                there,
                adapts(),
            )
        )
    return made


def _more() -> list[Change]:
    return [
        change("recursive_struct", "$S", "struct $S { x: u16; below: list<$S>; }", "struct $S { x: u32; below: list<$S>; }",
               adapts(*same('{"x":1,"below":[{"x":2,"below":[]}]}')),
               checked(('{"x":1,"below":[{"x":70000,"below":[]}]}', Fault("70000 does not fit u16 of {side} schema", ".below[0].x")))),
        change("two_types_that_hold_each_other", "$S", "struct $S { t: $T?; } struct $T { s: list<$S>; }", "struct $S { t: $T?; } struct $T { s: list<$S>; more: u8 = 1; }",
               adapts(('{"t":{"s":[]}}', '{"t":{"s":[],"more":1}}')), adapts()),
        change("deeply_refused", "$S", "struct $S { t: list<$T>; } struct $T { u: map<string, $V>; } struct $V { x: f64; }",
               "struct $S { t: list<$T>; } struct $T { u: map<string, $V>; } struct $V { x: string; }", refused("field $V.x: [f64|string]"), refused("field $V.x: [f64|string]")),
        change("was_on_both_sides", "$S", 'struct $S { @was("first") second: u8; }', 'struct $S { @was("first") third: u8; }',
               refused("field $S.third: [only new], and has no default"), refused("field $S.second: [only old], and has no default")),
        change("was_swapped_back", "$S", "struct $S { title: u8; }", 'struct $S { @was("name", "title") heading: u8; }', adapts(('{"title":1}', '{"heading":1}')), adapts(('{"heading":1}', '{"title":1}'))),
        change("name_taken_by_another", "$S", "struct $S { a: u8; b: u8; }", "struct $S { c: u8 = 9; a: u8; b: u8; }",
               adapts(('{"a":1,"b":2}', '{"c":9,"a":1,"b":2}')), adapts(('{"c":3,"a":1,"b":2}', '{"a":1,"b":2}'))),
        change("field_removed_and_added", "$S", "struct $S { a: u8; gone: string; }", "struct $S { a: u8; come: bool = true; }",
               adapts(('{"a":1,"gone":"x"}', '{"a":1,"come":true}')), refused("field $S.gone: [only old], and has no default")),
        change("empty_struct_grows", "$S", "struct $S { }", "struct $S { a: u8 = 1; }", adapts(("{}", '{"a":1}')), adapts(('{"a":5}', "{}"))),
        change("holds_another_tier", "$S", "@tier(memcpy) struct $T { x: u16; } @tier(febird) struct $S { t: list<$T>; }", "@tier(febird) struct $T { x: u16; } @tier(febird) struct $S { t: list<$T>; }",
               adapts(*same('{"t":[{"x":1}]}')), adapts(*same('{"t":[{"x":1}]}'))),
        change("array_of_structs", "$S", "struct $S { t: array<$T, 2>; } struct $T { x: u16; }", "struct $S { t: array<$T, 2>; } struct $T { x: u32; }",
               adapts(*same('{"t":[{"x":1},{"x":2}]}')), checked(('{"t":[{"x":1},{"x":65536}]}', Fault("65536 does not fit u16 of {side} schema", ".t[1].x")))),
        change("optional_struct", "$S", "struct $S { t: $T?; } struct $T { x: u16; }", "struct $S { t: $T?; } struct $T { x: u16; y: u8 = 1; }", adapts(("{}", "{}"), ('{"t":{"x":1}}', '{"t":{"x":1,"y":1}}')), adapts()),
        change("alias_comes", "$S", "struct $S { a: u32; }", "type $A = u32; struct $S { a: $A; }", equal('{"a":1}'), equal('{"a":1}')),
        change("constraint_comes", "$S", "struct $S { a: u32; }", "struct $S { a: u32 @range(1..9); }", equal('{"a":1}'), equal('{"a":1}')),
        change("timestamps_stay", "$S", "struct $S { at: timestamp; a: u8; }", "struct $S { a: u8; at: timestamp; }",
               adapts(('{"at":"2024-02-29T12:30:45Z","a":1}', '{"a":1,"at":"2024-02-29T12:30:45Z"}')), adapts()),
    ]  # fmt: skip


def _codings() -> list[Change]:
    """Integers of archives that lie as existing protobuf has them are the same numbers to other schemas."""
    a = "@tier(archive) struct $S"

    def fits(value: str, type_: str, path: str = ".a") -> Fault:
        return Fault(f"{value} does not fit {type_} of {{side}} schema", path)

    return [
        change("coded_kept", "$S", f"{a} {{ 1: a: i32.varint; }}", f"{a} {{ 1: a: i32.varint; }}", equal('{"a":-5}'), equal('{"a":5}')),
        change("zigzag_varint", "$S", f"{a} {{ 1: a: i64; }}", f"{a} {{ 1: a: i64.varint; }}",
               adapts(*same('{"a":"-5"}', '{"a":"9223372036854775807"}')), adapts(*same('{"a":"-9223372036854775808"}', '{"a":"3"}'))),
        change("zigzag_fixed", "$S", f"{a} {{ 1: a: i32; 2: b: i64; }}", f"{a} {{ 1: a: i32.fixed; 2: b: i64.fixed; }}",
               adapts(*same('{"a":-2147483648,"b":"-1"}')), adapts(*same('{"a":2147483647,"b":"9223372036854775807"}'))),
        change("unsigned_fixed", "$S", f"{a} {{ 1: a: u32; 2: b: u64; }}", f"{a} {{ 1: a: u32.fixed; 2: b: u64.fixed; }}",
               adapts(*same('{"a":4294967295,"b":"18446744073709551615"}')), adapts(*same('{"a":0,"b":"300"}'))),
        change("varint_fixed", "$S", f"{a} {{ 1: a: i32.varint; }}", f"{a} {{ 1: a: i32.fixed; }}", adapts(*same('{"a":-2147483648}')), adapts(*same('{"a":-1}'))),
        change("coded_widens", "$S", f"{a} {{ 1: a: i32.fixed; }}", f"{a} {{ 1: a: i64.varint; }}",
               adapts(('{"a":-5}', '{"a":"-5"}')), checked(('{"a":"-5"}', '{"a":-5}'), ('{"a":"4294967296"}', fits("4294967296", "i32")))),
        change("coded_narrow_widens", "$S", f"{a} {{ 1: a: i8; 2: b: u16; }}", f"{a} {{ 1: a: i32.varint; 2: b: u64.fixed; }}",
               adapts(('{"a":-7,"b":9}', '{"a":-7,"b":"9"}')), checked(('{"a":-7,"b":"9"}', '{"a":-7,"b":9}'), ('{"a":1,"b":"65536"}', fits("65536", "u16", ".b")))),
        change("coded_lists", "$S", f"{a} {{ 1: a: list<u32>; 2: b: list<i64>; }}", f"{a} {{ 1: a: list<u32.fixed>; 2: b: list<i64.varint>; }}",
               adapts(*same('{"a":[1,300,4294967295],"b":["-1","5"]}', '{"a":[],"b":[]}')), adapts(*same('{"a":[7],"b":["-300"]}'))),
        change("coded_keys_and_values", "$S", f"{a} {{ 1: a: map<u32, i32>; 2: b: set<i64>; }}", f"{a} {{ 1: a: map<u32.fixed, i32.varint>; 2: b: set<i64.fixed>; }}",
               adapts(*same('{"a":{"7":-7},"b":["5"]}')), adapts(*same('{"a":{},"b":[]}'))),
        change("coded_optional_and_default", "$S", f"{a} {{ 1: a: i32.varint?; 2: b: u64.fixed = 9; }}", f"{a} {{ 1: a: i32?; 2: b: u64 = 9; }}",
               adapts(*same('{"a":-1,"b":"9"}', '{"b":"300"}')), adapts(*same('{"a":5,"b":"9"}'))),
        change("coded_other_signedness", "$S", f"{a} {{ 1: a: list<u32.fixed>; }}", f"{a} {{ 1: a: list<i32.fixed>; }}",
               refused("field $S.a: [list<u32.fixed>|list<i32.fixed>]"), refused("field $S.a: [list<u32.fixed>|list<i32.fixed>]")),
        change("coded_archive_to_febird", "$S", f"{a} {{ 1: a: i64.varint; 2: b: list<u32.fixed>; }}", "@tier(febird) struct $S { a: i64; b: list<u32>; }",
               adapts(*same('{"a":"-5","b":[1,300]}')), adapts(*same('{"a":"-9","b":[]}'))),
        change("coded_alternatives", "$U", "@tier(archive) union $U { 1: a: i64.varint; 2: b: u32.fixed; }", "@tier(archive) union $U { 1: a: i64; 2: b: u64.fixed; }",
               adapts(('{"a":"-5"}', '{"a":"-5"}'), ('{"b":4294967295}', '{"b":"4294967295"}')),
               checked(('{"b":"1"}', '{"b":1}'), ('{"b":"4294967296"}', fits("4294967296", "u32", ".b")))),
    ]  # fmt: skip


KINDS: list[Change] = [*_enums(), *_unions(), *_archives(), *_defaults(), *_more(), *_codings()]
