"""The cases of tests/vectors/evolution: what may become of a schema, and what its peers make of it.

A `Change` is of one value: its type before and after, and what is declared for it. Each gives two methods, one
that takes the value and one that gives it. `$` in a declaration stands for a prefix of the case's own, so that
no two cases share a type; `~S` in JSON for the table of `$S` in a graph. `there` and `back` say what becomes of values of the old type in the new one, and the
other way; why not, where none do; and some of them, as JSON.

Whys are written with `{value}` for the place of the value itself, and the words of the old and the new schema in
this order, `[u32|string]`; `[only new]` stands for a thing that only the new schema has, `[not new]` for one
that it does not have.
"""

from dataclasses import dataclass

EQUAL, ADAPTS, CHECKED, REFUSED, UNKNOWN = "equal", "adapts", "checked", "refused", "unknown_method"


@dataclass(frozen=True)
class Fault:
    """A value that does not go over: where in the value, and why. `{side}` is whose schema it is none of."""

    why: str
    path: str = ""


Value = tuple[str, "str | Fault"]
"""JSON of a value in the schema that it comes from, and in the other one; or why it has none there."""


@dataclass(frozen=True)
class Way:
    verdict: str
    why: str = ""
    values: tuple[Value, ...] = ()


def same(*texts: str) -> tuple[Value, ...]:
    return tuple((text, text) for text in texts)


@dataclass(frozen=True)
class Change:
    name: str
    old: str
    new: str
    there: Way
    back: Way
    before: str = ""
    after: str = ""


def _widths() -> list[Change]:
    """Every integer to every other, and to floats and texts."""
    made = []
    names = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64")
    for at, old in enumerate(names):
        for new in names[at + 1 :]:
            made.append(_integers(old, new))
    return made


def limits(name: str) -> tuple[int, int]:
    bits = int(name[1:])
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _json(number: int, type_: str) -> str:
    return f'"{number}"' if type_.endswith("64") else str(number)


def _integers(old: str, new: str) -> Change:
    name = f"{old}_{new}"
    if old[0] != new[0]:
        why = f"{{value}}: [{old}|{new}]"
        return Change(name, old, new, Way(REFUSED, why), Way(REFUSED, why))
    low, high = limits(old)
    there = tuple((_json(each, old), _json(each, new)) for each in {low, 1, high})
    back: list[Value] = [(_json(each, new), _json(each, old)) for each in (low, high)]
    outside = [high + 1, limits(new)[1]] + ([low - 1, limits(new)[0]] if low else [])
    back += [(_json(each, new), Fault(f"{each} does not fit {old} of {{side}} schema")) for each in outside]
    return Change(name, old, new, Way(ADAPTS, values=there), Way(CHECKED, values=tuple(back)))


def _scalars() -> list[Change]:
    """Those of different kinds: no rule joins most of them."""
    made = []
    apart = (
        ("bool", "u8"), ("bool", "i32"), ("bool", "string"), ("u32", "f32"), ("u32", "f64"), ("i64", "f64"),
        ("u32", "string"), ("i32", "bytes"), ("f64", "string"), ("u64", "timestamp"), ("i64", "timestamp"),
        ("i64", "duration"), ("timestamp", "duration"), ("uuid", "string"), ("uuid", "bytes"), ("f32", "i32"),
        ("u64", "uuid"), ("string", "timestamp"),
    )  # fmt: skip
    for old, new in apart:
        why = f"{{value}}: [{old}|{new}]"
        made.append(Change(f"{old}_{new}", old, new, Way(REFUSED, why), Way(REFUSED, why)))
    why = "{value}: [f32|f64]"
    made.append(Change("f32_f64", "f32", "f64", Way(ADAPTS, values=same("0.5", "-1.5")), Way(REFUSED, why)))
    texts: tuple[Value, ...] = (('""', '""'), ('"x"', '"eA=="'), ('"é"', '"w6k="'))
    back: tuple[Value, ...] = (
        ('"eA=="', '"x"'),
        ('"/w=="', Fault("no UTF-8, which string of {side} schema is")),
    )
    made.append(
        Change("string_bytes", "string", "bytes", Way(ADAPTS, values=texts), Way(CHECKED, values=back))
    )
    return made


def _kept() -> list[Change]:
    """What does not change stays."""
    made = []
    for type_, value in (
        ("bool", "true"), ("u8", "7"), ("i64", '"-5"'), ("f32", "1.5"), ("f64", "2.5"), ("string", '"a"'),
        ("bytes", '"AQI="'), ("timestamp", '"2024-02-29T12:30:45Z"'), ("duration", '"1.5s"'),
        ("uuid", '"01234567-89ab-cdef-0123-456789abcdef"'), ("list<u32>", "[1,2]"), ("set<string>", '["a"]'),
        ("map<string, u32>", '{"a":1}'), ("array<u16, 2>", "[1,2]"), ("u32?", "null"),
    ):  # fmt: skip
        name = "kept_" + "".join(each if each.isalnum() else "_" for each in type_).strip("_")
        made.append(
            Change(name, type_, type_, Way(EQUAL, values=same(value)), Way(EQUAL, values=same(value)))
        )
    return made


def _containers() -> list[Change]:
    narrow = "does not fit u16 of {side} schema"
    return [
        Change(
            "list_widens", "list<u16>", "list<u32>",
            Way(ADAPTS, values=same("[]", "[1,65535]")),
            Way(CHECKED, values=(*same("[1]"), ("[1,65536]", Fault(f"65536 {narrow}", "[1]")))),
        ),
        Change(
            "set_widens", "set<u16>", "set<u32>",
            Way(ADAPTS, values=same("[1,2]")),
            Way(CHECKED, values=(*same("[1]"), ("[70000]", Fault(f"70000 {narrow}")))),
        ),
        Change(
            "map_value_widens", "map<string, u16>", "map<string, u32>",
            Way(ADAPTS, values=same('{"a":1}')),
            Way(CHECKED, values=(('{"a":1,"b":70000}', Fault(f"70000 {narrow}", "[1]")),)),
        ),
        Change(
            "map_key_widens", "map<u16, string>", "map<u32, string>",
            Way(ADAPTS, values=same('{"1":"a"}')),
            Way(CHECKED, values=(('{"1":"a","70000":"b"}', Fault(f"70000 {narrow}", "[1]")),)),
        ),
        Change(
            "array_widens", "array<u16, 2>", "array<u32, 2>",
            Way(ADAPTS, values=same("[1,2]")),
            Way(CHECKED, values=(("[1,70000]", Fault(f"70000 {narrow}", "[1]")),)),
        ),
        Change(
            "optional_widens", "u16?", "u32?",
            Way(ADAPTS, values=same("null", "7")),
            Way(CHECKED, values=(*same("null"), ("70000", Fault(f"70000 {narrow}")))),
        ),
        Change(
            "nested_lists", "list<list<string>>", "list<list<bytes>>",
            Way(ADAPTS, values=(('[["a"]]', '[["YQ=="]]'),)),
            Way(CHECKED, values=(('[["YQ=="],["/w=="]]', Fault("no UTF-8, which string of {side} schema is", "[1][0]")),)),
        ),
        *(
            Change(name, old, new, Way(REFUSED, f"{{value}}: [{old.replace(' ', '')}|{new.replace(' ', '')}]"),
                   Way(REFUSED, f"{{value}}: [{old.replace(' ', '')}|{new.replace(' ', '')}]"))
            for name, old, new in (
                ("list_of_others", "list<u32>", "list<string>"),
                ("list_set", "list<u32>", "set<u32>"),
                ("list_map", "list<string>", "map<string, u32>"),
                ("array_list", "array<u32, 2>", "list<u32>"),
                ("array_lengths", "array<u32, 2>", "array<u32, 3>"),
                ("scalar_list", "u32", "list<u32>"),
                ("map_other_value", "map<string, u32>", "map<string, i32>"),
                ("map_other_key", "map<string, u32>", "map<u32, u32>"),
            )
        ),
    ]  # fmt: skip


def _optionals() -> list[Change]:
    lacks = Fault("absent, and {side} schema needs a value")
    return [
        Change("becomes_optional", "u32", "u32?", Way(ADAPTS, values=same("7")), Way(CHECKED, values=(*same("7"), ("null", lacks)))),
        Change("text_becomes_optional", "string", "string?", Way(ADAPTS, values=same('"a"')), Way(CHECKED, values=(("null", lacks),))),
        Change("list_becomes_optional", "list<u32>", "list<u32>?", Way(ADAPTS, values=same("[1]")), Way(ADAPTS, values=(("[1]", "[1]"), ("null", "[]")))),
        Change("widens_and_becomes_optional", "u16", "u32?", Way(ADAPTS, values=same("7")),
               Way(CHECKED, values=(("null", lacks), ("70000", Fault("70000 does not fit u16 of {side} schema"))))),
        Change("optional_of_others", "u32?", "string?", Way(REFUSED, "{value}: [u32?|string?]"), Way(REFUSED, "{value}: [u32?|string?]")),
    ]  # fmt: skip


def _structs() -> list[Change]:
    both = Way(ADAPTS, values=same('{"a":1,"b":2}'))
    swapped = (('{"a":1,"b":2}', '{"b":2,"a":1}'),)
    return [
        Change("field_order", "$S", "$S", Way(ADAPTS, values=swapped), Way(ADAPTS, values=(('{"b":2,"a":1}', '{"a":1,"b":2}'),)),
               "struct $S { a: u32; b: u16; }", "struct $S { b: u16; a: u32; }"),
        Change("field_added_with_default", "$S", "$S",
               Way(ADAPTS, values=(('{"a":1}', '{"a":1,"b":5}'),)), Way(ADAPTS, values=(('{"a":1,"b":9}', '{"a":1}'),)),
               "struct $S { a: u32; }", "struct $S { a: u32; b: u16 = 5; }"),
        Change("field_added_without_default", "$S", "$S",
               Way(REFUSED, "field $S.b: [only new], and has no default"), Way(ADAPTS, values=(('{"a":1,"b":9}', '{"a":1}'),)),
               "struct $S { a: u32; }", "struct $S { a: u32; b: u16; }"),
        Change("optional_field_added", "$S", "$S",
               Way(ADAPTS, values=(('{"a":1}', '{"a":1}'),)), Way(ADAPTS, values=(('{"a":1,"b":"x"}', '{"a":1}'),)),
               "struct $S { a: u32; }", "struct $S { a: u32; b: string?; }"),
        Change("list_field_added", "$S", "$S",
               Way(ADAPTS, values=(('{"a":1}', '{"a":1,"b":[]}'),)), Way(ADAPTS, values=(('{"a":1,"b":["x"]}', '{"a":1}'),)),
               "struct $S { a: u32; }", "struct $S { a: u32; b: list<string>; }"),
        Change("map_and_set_added", "$S", "$S",
               Way(ADAPTS, values=(('{"a":1}', '{"a":1,"b":[],"c":{}}'),)), Way(ADAPTS),
               "struct $S { a: u32; }", "struct $S { a: u32; b: set<u8>; c: map<string, u8>; }"),
        Change("field_renamed", "$S", "$S",
               Way(ADAPTS, values=(('{"a":1,"title":"x"}', '{"a":1,"name":"x"}'),)),
               Way(ADAPTS, values=(('{"a":1,"name":"x"}', '{"a":1,"title":"x"}'),)),
               "struct $S { a: u32; title: string; }", 'struct $S { a: u32; @was("title") name: string; }'),
        Change("field_renamed_without_was", "$S", "$S",
               Way(REFUSED, "field $S.name: [only new], and has no default"),
               Way(REFUSED, "field $S.title: [only old], and has no default"),
               "struct $S { title: string; }", "struct $S { name: string; }"),
        Change("field_widens", "$S", "$S", Way(ADAPTS, values=same('{"a":1}')),
               Way(CHECKED, values=(('{"a":70000}', Fault("70000 does not fit u16 of {side} schema", ".a")),)),
               "struct $S { a: u16; }", "struct $S { a: u32; }"),
        Change("field_of_another_type", "$S", "$S", Way(REFUSED, "field $S.a: [u32|string]"), Way(REFUSED, "field $S.a: [u32|string]"),
               "struct $S { a: u32; }", "struct $S { a: string; }"),
        Change("type_renamed", "$S", "$T", Way(EQUAL, values=same('{"a":1}')), Way(EQUAL),
               "struct $S { a: u32; }", "struct $T { a: u32; }"),
        Change("memcpy_febird", "$S", "$S", both, both,
               "@tier(memcpy) struct $S { a: u32; b: u16; }", "@tier(febird) struct $S { a: u32; b: u16; }"),
        Change("memcpy_archive", "$S", "$S", both, both,
               "@tier(memcpy) struct $S { a: u32; b: u16; }", "@tier(archive) struct $S { 1: a: u32; 2: b: u16; }"),
        Change("febird_archive", "$S", "$S", Way(ADAPTS, values=same('{"a":"x","b":[1]}')), Way(ADAPTS, values=same('{"a":"x","b":[1]}')),
               "@tier(febird) struct $S { a: string; b: list<u16>; }", "@tier(archive) struct $S { 1: a: string; 2: b: list<u16>; }"),
        Change("struct_enum", "$S", "$S", Way(REFUSED, "type $S: [struct|enum]"), Way(REFUSED, "type $S: [struct|enum]"),
               "struct $S { a: u32; }", "enum $S: u32 { a = 0 }"),
    ]  # fmt: skip


CHANGES: list[Change] = [
    *_widths(),
    *_scalars(),
    *_kept(),
    *_containers(),
    *_optionals(),
    *_structs(),
]
