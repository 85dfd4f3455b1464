"""The cases of tests/vectors/evolution that are of whole methods: their form, their names, several parameters,
streams and errors. See evolution_table.py.
"""

from dataclasses import dataclass

from tests.vectors.evolution_table import ADAPTS, CHECKED, EQUAL, REFUSED, UNKNOWN, Way


@dataclass(frozen=True)
class Shape:
    """`there`: the consumer has the old schema, the provider the new one; None: it has no such method. Whys begin with the method's name."""

    name: str
    old: str
    new: str
    there: Way | None
    back: Way | None
    before: str = ""
    after: str = ""


def _echoed() -> list[Shape]:
    """A text that becomes bytes goes over as it is, wherever it stands; what comes back is looked at."""
    types = [
        ("text", "{}", ""),
        ("list", "list<{}>", ""),
        ("key", "map<{}, u8>", ""),
        ("mapped", "map<string, {}>", ""),
        ("struct", "$S", "struct $T {{ text: {}; }} struct $S {{ a: u8; inside: $T; }}"),
        ("union", "$U", "union $U {{ 1: number: u32; 2: text: {}; }}"),
        ("archive", "$S", "@tier(archive) struct $S {{ 1: a: u8; 2: text: {}; }}"),
        ("recursive", "$S", "struct $S {{ text: {}; more: list<$S>; }}"),
    ]
    made = []
    for form, type_, declared in types:
        name = f"echoed_{form}"
        old, new = (
            f"{name}(v: {type_.format(text)}) -> (v: {type_.format(text)})" for text in ("string", "bytes")
        )
        before, after = (declared.format(text) for text in ("string", "bytes"))
        made.append(Shape(name, old, new, Way(CHECKED), Way(CHECKED), before, after))
    made.append(
        Shape(
            "echoed_error",
            "echoed_error(v: string) -> u64 throws $Error",
            "echoed_error(v: bytes) -> u32 throws $Error",
            Way(ADAPTS),
            Way(CHECKED),
            "error $Error { text: bytes; }",
            "error $Error { text: string; }",
        )
    )
    return made


# fmt: off - a case is a few long lines
SHAPES: list[Shape] = [
    *_echoed(),
    Shape("removed", "removed(x: u32) -> u32", "", Way(UNKNOWN, "removed: method only here"), None),
    Shape("added", "", "added(x: u32) -> u32", None, Way(UNKNOWN, "added: method only here")),
    Shape("kept", "kept(x: u32) -> u32", "kept(x: u32) -> u32", Way(EQUAL), Way(EQUAL)),
    Shape(
        "one_way",
        "one_way(x: u32)",
        "@oneway one_way(x: u32)",
        Way(REFUSED, "one_way: one-way there, not here"),
        Way(REFUSED, "one_way: one-way here, not there"),
    ),
    Shape(
        "renamed_method",
        "former(x: u32) -> u32",
        '@was("former") renamed_method(x: u32) -> u32',
        None,
        Way(ADAPTS),
    ),
    Shape("former", "", "", Way(ADAPTS), None),
    Shape(
        "parameter_added_with_default",
        "parameter_added_with_default(a: u32)",
        "parameter_added_with_default(a: u32, b: u32 = 3)",
        Way(ADAPTS),
        Way(ADAPTS),
    ),
    Shape(
        "parameter_added",
        "parameter_added(a: u32)",
        "parameter_added(a: u32, b: u32)",
        Way(REFUSED, "parameter_added: parameter b: only there, and has no default"),
        Way(ADAPTS),
    ),
    Shape(
        "parameter_moved",
        "parameter_moved(a: u32, b: string)",
        "parameter_moved(b: string, a: u32)",
        Way(ADAPTS),
        Way(ADAPTS),
    ),
    Shape(
        "parameter_renamed",
        "parameter_renamed(a: u32)",
        'parameter_renamed(@was("a") b: u32)',
        Way(ADAPTS),
        Way(ADAPTS),
    ),
    Shape(
        "result_added",
        "result_added() -> (a: u32)",
        "result_added() -> (a: u32, b: string)",
        Way(ADAPTS),
        Way(REFUSED, "result_added: result b: only here, and has no default"),
    ),
    Shape(
        "result_comes",
        "result_comes()",
        "result_comes() -> (a: u32)",
        Way(ADAPTS),
        Way(REFUSED, "result_comes: result a: only here, and has no default"),
    ),
    Shape(
        "result_named",
        "result_named() -> u32",
        'result_named() -> (@was("value") count: u32)',
        Way(ADAPTS),
        Way(ADAPTS),
    ),
    Shape(
        "both_ways",
        "both_ways(v: u16) -> (v: u16)",
        "both_ways(v: u32) -> (v: u32)",
        Way(CHECKED),
        Way(CHECKED),
    ),
    Shape(
        "both_refused",
        "both_refused(v: u16) -> (v: bool)",
        "both_refused(v: i16) -> (v: string)",
        Way(REFUSED, "both_refused: parameter v: u16 here, i16 there"),
        Way(REFUSED, "both_refused: parameter v: i16 here, u16 there"),
    ),
    Shape(
        "stream_comes",
        "stream_comes() -> (a: u32)",
        "stream_comes() -> stream<u32>",
        Way(REFUSED, "stream_comes: result stream: none here, u32 there"),
        Way(REFUSED, "stream_comes: result stream: u32 here, none there"),
    ),
    Shape(
        "parameter_stream_goes",
        "parameter_stream_goes(v: stream<string>)",
        "parameter_stream_goes(v: list<string>)",
        Way(REFUSED, "parameter_stream_goes: parameter stream: string here, none there"),
        Way(REFUSED, "parameter_stream_goes: parameter stream: none here, string there"),
    ),
    Shape(
        "stream_widens",
        "stream_widens(v: stream<u16>) -> stream<u16>",
        "stream_widens(v: stream<u32>) -> stream<u32>",
        Way(CHECKED),
        Way(CHECKED),
    ),
    Shape(
        "stream_kept",
        "stream_kept(a: u8) -> stream<string>",
        "stream_kept(a: u8) -> stream<string>",
        Way(EQUAL),
        Way(EQUAL),
    ),
    Shape(
        "stream_of_others",
        "stream_of_others() -> stream<u32>",
        "stream_of_others() -> stream<string>",
        Way(REFUSED, "stream_of_others: result stream: u32 here, string there"),
        Way(REFUSED, "stream_of_others: result stream: string here, u32 there"),
    ),
    Shape(
        "stream_of_structs",
        "stream_of_structs() -> stream<$S>",
        "stream_of_structs() -> stream<$S>",
        Way(ADAPTS),
        Way(REFUSED, "stream_of_structs: field $S.b: only here, and has no default"),
        "struct $S { a: u32; }",
        "struct $S { a: u32; b: u32; }",
    ),
    Shape(
        "throws_more",
        "throws_more() throws ShapeError",
        "throws_more() throws ShapeError, OtherError",
        Way(ADAPTS),
        Way(ADAPTS),
    ),
    Shape("throws_less", "throws_less() throws ShapeError", "throws_less()", Way(ADAPTS), Way(ADAPTS)),
    Shape(
        "throws_in_another_order",
        "throws_in_another_order() throws ShapeError, OtherError",
        "throws_in_another_order() throws OtherError, ShapeError",
        Way(ADAPTS),
        Way(ADAPTS),
    ),
    Shape(
        "error_kept",
        "error_kept() throws OtherError",
        "error_kept() throws OtherError",
        Way(EQUAL),
        Way(EQUAL),
    ),
    Shape(
        "error_grows",
        "error_grows() throws $Error",
        "error_grows() throws $Error",
        Way(ADAPTS),
        Way(REFUSED, "error_grows: field $Error.b: only here, and has no default"),
        "error $Error { a: u32; }",
        "error $Error { a: u32; b: string; }",
    ),
    Shape(
        "error_widens",
        "error_widens() throws $Error",
        "error_widens() throws $Error",
        Way(CHECKED),
        Way(ADAPTS),
        "error $Error { a: u16; }",
        "error $Error { a: u32; }",
    ),
    Shape(
        "idempotent_comes",
        "idempotent_comes(a: u32)",
        "@idempotent idempotent_comes(a: u32)",
        Way(EQUAL),
        Way(EQUAL),
    ),
    Shape(
        "deadline_changes",
        "@deadline(1s) deadline_changes(a: u32)",
        "@deadline(5s) deadline_changes(a: u32)",
        Way(EQUAL),
        Way(EQUAL),
    ),
]
