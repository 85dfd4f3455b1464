"""What can be written of the built-in types: literals, and constraints with literals that keep them.

The literals of a type that can be a key are all different values, so that any of them make a set.
"""

from dataclasses import dataclass

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
TEXTS = ("string", "bytes")
FIXED = ("bool", *INTEGERS, "f32", "f64", "timestamp", "duration", "uuid")
KEYS = ("bool", *INTEGERS, "string", "bytes", "uuid")
ALL = (*FIXED, *TEXTS)


@dataclass(frozen=True)
class Rule:
    """An annotation behind a type. `keeps`: literals of the type that it allows; of containers, how many
    elements.
    """

    text: str
    keeps: tuple[str, ...] = ()
    least: int = 0
    most: int = 99


def _limits(word: str) -> tuple[int, int]:
    bits = int(word[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if word[0] == "i" else (0, (1 << bits) - 1)


def _integers(word: str) -> tuple[str, ...]:
    low, high = _limits(word)
    some = ["0", "1", "7", "0x2a", "1_00", str(high), hex(high - 1)]
    return (*some, str(low), "-1", "-100", "-0x10") if low else tuple(some)


_FLOATS = ("0", "0.0", "-0.0", "1.5", "-2", "1e-3", "0.1", "-1_000.25", "inf", "-inf", "nan", "0x10")
LITERALS: dict[str, tuple[str, ...]] = {
    "bool": ("true", "false"),
    **{word: _integers(word) for word in INTEGERS},
    "f32": (*_FLOATS, "3.4028234663852886e38", "1e-45", "16777217", "1e16", "8388608.5"),
    "f64": (*_FLOATS, "1.7976931348623157e308", "5e-324", "9007199254740993", "1e16", "123456789012345680"),
    "string": (
        '""',
        '"text"',
        r'"\"\\\n\r\t\0"',
        '"h\u00e9 \u20ac \U0001f600"',
        r'"\u{1F600}\u{7f}\x01"',
        '"??/ %s {} */ //"',
        r'"\0" ',
        '"' + "x" * 130 + '"',
        '"a\u2028b"',
        "\"$(x) `y` 'z'\"",
    ),
    "bytes": ('""', r'"\x00\xff"', '"bytes"', r'"\x80\x0a1"', r'"\"\\"', '"\u00e9"', '"' + "y" * 70 + '"'),
    "timestamp": (
        '"2024-02-29T12:30:45.5Z"',
        '"1969-12-31T23:59:59.999999999+01:00"',
        "0",
        "1_000",
        "-1",
        '"2262-04-11T23:47:16.854775807Z"',
        "-9223372036854775808",
    ),
    "duration": ("30s", "0s", "-200ms", "1ns", "3us", "5min", "2h", "1d", "-106751d"),
    "uuid": (
        '"00000000-0000-0000-0000-000000000000"',
        '"123e4567-e89b-12d3-a456-426614174000"',
        '"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"',
    ),
}


def _integer_rules(word: str) -> tuple[Rule, ...]:
    low, high = _limits(word)
    rules = [
        Rule("@range(..100)", ("0", "1", "7", "1_00")),
        Rule("@range(1..)", ("1", "7", str(high))),
        Rule("@range(0x5..9)", ("7", "5", "9")),
        Rule("@range(7..7)", ("7",)),
        Rule(f"@range({low}..{high})", ("0", "7", str(high))),
    ]
    if low:
        rules += [Rule("@range(-5..7)", ("-5", "0", "7")), Rule("@range(..-1)", ("-1", "-100", str(low)))]
    return tuple(rules)


_FLOAT_RULES = (
    Rule("@finite", ("0", "1.5", "-2", "0.1")),
    Rule("@range(0.0..)", ("0", "1.5", "0.1", "inf")),
    Rule("@range(-2..1.5)", ("0", "1.5", "-2", "0.1")),
    Rule("@range(..0.1)", ("0", "0.1", "-2")),
    Rule("@range(0.1..1e16)", ("0.1", "1.5")),
    Rule("@range(-inf..0)", ("0", "-2", "-inf")),
    Rule("@finite @range(..0x10)", ("0", "1.5", "-2", "0.1")),
)
RULES: dict[str, tuple[Rule, ...]] = {
    **{word: _integer_rules(word) for word in INTEGERS},
    "f32": _FLOAT_RULES,
    "f64": _FLOAT_RULES,
    "string": (
        Rule("@length(..8)", ('"abc"', '""', '"h\u00e9"')),
        Rule("@length(1..)", ('"abc"', '"h\u00e9"')),
        Rule("@length(3)", ('"abc"', '"h\u00e9"')),
        Rule('@pattern("[a-z][a-z0-9_]*")', ('"abc"', '"a_1"')),
        Rule('@pattern("(?:ab|c)+|\\\\d{2,3}")', ('"abc"', '"c"', '"12"')),
        Rule('@pattern("[^x]*")', ('"abc"', '""', '"h\u00e9\\n"')),
        Rule('@pattern(".{0,5}")', ('"abc"', '""', '"h\u00e9"')),
        Rule('@length(1..4) @pattern("[a-c]*")', ('"abc"', '"a"')),
        Rule('@pattern("\\\\w+(-\\\\w+)?")', ('"abc"', '"a-b"')),
    ),
    "bytes": (
        Rule("@length(..5)", ('"abc"', '""', r'"\x00\xff"')),
        Rule("@length(3)", ('"abc"', r'"\x00\x80\xff"')),
        Rule("@length(1..300)", ('"abc"', r'"\x00\xff"')),
    ),
    "timestamp": (
        Rule('@range("2000-01-01T00:00:00Z"..)', ('"2024-02-29T12:30:45.5Z"',)),
        Rule("@range(0..1_000)", ("0", "1_000")),
    ),
    "duration": (
        Rule("@range(0s..1h)", ("30s", "0s", "3us")),
        Rule("@range(-1s..)", ("30s", "-200ms", "1d")),
    ),
}
SIZES = (
    Rule("@length(..3)", (), 0, 3),
    Rule("@length(1..)", (), 1, 99),
    Rule("@length(1..4)", (), 1, 4),
    Rule("@length(2)", (), 2, 2),
    Rule("@length(0)", (), 0, 0),
)
