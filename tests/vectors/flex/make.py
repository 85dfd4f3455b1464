# ruff: noqa: C901, E501 - one row of a table, one line; one case, one line
"""`make.py` writes values.json, messages.json and hostile.json beside it: the vectors of section 5c of the protocol.

The bytes are put together here from docs/protocol.md alone, by struct and nothing of the runtimes. A value is
written as JSON that says its kind:

    {"none": null} {"bool": true} {"int": "-5"} {"f64": hex} {"text": "é"} {"bytes": hex} {"timestamp": "5"}
    {"uuid": "…"} {"list": […]} {"map": [[key, value], …]} {"array": {"dtype", "shape", "data": hex}}
    {"declared": {"type", "fingerprint": hex, "data": hex}}
"""

import json
import struct
import uuid
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Value = dict[str, Any]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float32", "float64", "complex64", "complex128"]


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes((number & 127 | 128,))
        number >>= 7
    return out + bytes((number,))


def blob(data: bytes) -> bytes:
    return varint(len(data)) + data


def integer(number: int) -> bytes:
    for tag, form, bits in ((3, "b", 7), (4, "<h", 15), (5, "<i", 31), (6, "<q", 63)):
        if -(1 << bits) <= number < 1 << bits:
            return bytes((tag,)) + struct.pack(form, number)
    return b"\x07" + struct.pack("<Q", number)


def listed(values: list[Value], at: int) -> bytes:
    kinds = {next(iter(value)) for value in values}
    if kinds == {"f64"}:
        return b"\x0f" + varint(len(values)) + b"".join(bytes.fromhex(value["f64"]) for value in values)
    if kinds == {"int"} and all(int(value["int"]) < 1 << 63 for value in values):
        numbers = [int(value["int"]) for value in values]
        code = max(integer(number)[0] for number in numbers) - 3
        width = 1 << code
        return (
            b"\x0e"
            + varint(len(values) * 4 + code)
            + b"".join(number.to_bytes(width, "little", signed=True) for number in numbers)
        )
    out = b"\x0d" + varint(len(values))
    for value in values:
        out += encoded(value, at + len(out))
    return out


def encoded(value: Value, at: int = 0) -> bytes:
    """Of a value that stands at this place of its message."""
    ((kind, content),) = value.items()
    match kind:
        case "none":
            return b"\x00"
        case "bool":
            return b"\x02" if content else b"\x01"
        case "int":
            return integer(int(content))
        case "f64":
            return b"\x08" + bytes.fromhex(content)
        case "text":
            return b"\x09" + blob(content.encode())
        case "bytes":
            return b"\x0a" + blob(bytes.fromhex(content))
        case "timestamp":
            return b"\x0b" + struct.pack("<q", int(content))
        case "uuid":
            return b"\x0c" + uuid.UUID(content).bytes
        case "list":
            return listed(content, at)
        case "map":
            out = b"\x10" + varint(len(content))
            for key, item in sorted(content, key=lambda entry: encoded(entry[0])):
                out += encoded(key)
                out += encoded(item, at + len(out))
            return out
        case "array":
            out = bytes((17, DTYPES.index(content["dtype"]) + 1, len(content["shape"])))
            out += b"".join(map(varint, content["shape"]))
            gap = -(at + len(out) + 1) % 8
            return out + bytes((gap,)) + bytes(gap) + bytes.fromhex(content["data"])
        case "declared":
            fingerprint = bytes.fromhex(content["fingerprint"])
            return (
                b"\x12" + blob(content["type"].encode()) + fingerprint + blob(bytes.fromhex(content["data"]))
            )
    raise ValueError(kind)


def message(attributes: dict[str, Value]) -> bytes:
    out = varint(len(attributes))
    for name in sorted(attributes, key=str.encode):
        data = name.encode()
        out += bytes((len(data),)) + data
        out += encoded(attributes[name], len(out))
    return out


def i(number: int) -> Value:
    return {"int": str(number)}


def f(number: float) -> Value:
    return {"f64": struct.pack("<d", number).hex()}


def t(text: str) -> Value:
    return {"text": text}


def array(dtype: str, shape: list[int], data: bytes) -> Value:
    return {"array": {"dtype": dtype, "shape": shape, "data": data.hex()}}


def nested(depth: int) -> Value:
    value: Value = {"list": []}
    for _ in range(depth - 1):
        value = {"list": [value]}
    return value


EDGES = [0, 1, -1, 127, 128, -128, -129, 32767, 32768, -32768, -32769, (1 << 31) - 1, 1 << 31, -(1 << 31)]
EDGES += [-(1 << 31) - 1, (1 << 63) - 1, -(1 << 63), 1 << 63, (1 << 64) - 1]
HIT = {"type": "sf1.search.Hit", "fingerprint": bytes(range(16)).hex(), "data": "0700"}
SOME_UUID = {"uuid": "00112233-4455-6677-8899-aabbccddeeff"}

VALUES: dict[str, Value] = {
    "none": {"none": None},
    "true": {"bool": True},
    "false": {"bool": False},
    **{f"int {number}": i(number) for number in EDGES},
    **{
        f"f64 {number!r}": f(number)
        for number in (0.0, -0.0, 1.5, -1e308, 5e-324, float("inf"), float("-inf"))
    },
    "f64 not a number": {"f64": "000000000000f87f"},
    "text empty": t(""),
    "text": t("grüße"),
    "text of 127 bytes": t("x" * 127),
    "text of 128 bytes": t("x" * 128),
    "text with a zero": t("a\0b"),
    "text beyond the basic plane": t("😀"),
    "bytes empty": {"bytes": ""},
    "bytes": {"bytes": "00ff80"},
    "timestamp": {"timestamp": "1767225600000000001"},
    "timestamp before 1970": {"timestamp": "-1"},
    "uuid": SOME_UUID,
    "list empty": {"list": []},
    "list of one none": {"list": [{"none": None}]},
    "list mixed": {"list": [i(1), t("a"), {"bool": True}, f(2.0)]},
    "list of integers and floats": {"list": [i(1), f(2.0)]},
    "row of small integers": {"list": [i(n) for n in (1, 2, 3, 4, 5)]},
    "row of 31": {"list": [i(n) for n in range(31)]},
    "row of 32": {"list": [i(n) for n in range(32)]},
    "row of 16 bits": {"list": [i(1), i(-129)]},
    "row of 32 bits": {"list": [i(1), i(40_000)]},
    "row of 64 bits": {"list": [i(-(1 << 63)), i((1 << 63) - 1)]},
    "list with one above 63 bits": {"list": [i(1), i(1 << 63)]},
    "row of floats": {"list": [f(0.5), f(-0.0)]},
    "map empty": {"map": []},
    "map by text": {"map": [[t("name"), t("Dave")], [t("id"), i(24)]]},
    "map by all kinds of keys": {
        "map": [
            [i(1), i(2)],
            [i(-1), i(2)],
            [i(1 << 63), i(2)],
            [t("a"), i(2)],
            [{"bytes": "61"}, i(2)],
            [SOME_UUID, i(2)],
        ]
    },
    "map of maps": {"map": [[t("a"), {"map": [[t("b"), {"list": [nested(2)]}]]}]]},
    "lists of 64 levels": nested(64),
    "array of float64": array("float64", [2, 3], struct.pack("<6d", *range(6))),
    "array without dimensions": array("int32", [], struct.pack("<i", -7)),
    "array without elements": array("uint8", [0, 5], b""),
    "array of 200": array("uint8", [200], bytes(200)),
    **{
        f"array of {name}": array(name, [2], bytes(2 * size))
        for name, size in zip(DTYPES, (1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16), strict=True)
    },
    "array in a list": {"list": [t("a"), array("int16", [1], b"\x01\x00"), array("bool", [2], b"\x00\x01")]},
    "declared": {"declared": HIT},
    "declared in a map": {"map": [[i(3), {"declared": HIT}]]},
}

MESSAGES: dict[str, dict[str, Value]] = {
    "empty": {},
    "of the paper": {"tag": t("input"), "data": {"list": [i(n) for n in (1, 2, 3, 4, 5)]}},
    "names ascend by bytes": {"é": i(1), "z": i(2), "Z": i(3), "zz": i(4)},
    "an array is aligned": {"n": i(1), "x": array("float64", [1], struct.pack("<d", 2.5))},
    "a name of 255 bytes": {"n" * 255: {"none": None}},
    "256 attributes": {f"n{n:03}": i(n) for n in range(256)},
}

# What: bytes, the fault (docs/protocol.md, section 8), its offset, its path.
HOSTILE: list[tuple[str, str, str, int, str]] = [
    ("nothing", "", "TRUNCATED", 0, ""),
    ("a tag that is none", "13", "UNKNOWN_ALTERNATIVE", 0, ""),
    ("a tag of 255", "ff", "UNKNOWN_ALTERNATIVE", 0, ""),
    ("something behind it", "0000", "TRAILING_BYTES", 1, ""),
    ("an integer cut off", "0401", "TRUNCATED", 1, ""),
    ("an integer in 16 bits that fits 8", "047f00", "MALFORMED_NUMBER", 1, ""),
    ("an integer in 32 bits that fits 16", "05ff7f0000", "MALFORMED_NUMBER", 1, ""),
    ("an integer in 64 bits that fits 32", "06ffffff7f00000000", "MALFORMED_NUMBER", 1, ""),
    ("an unsigned one that fits 63 bits", "07ffffffffffffff7f", "MALFORMED_NUMBER", 1, ""),
    ("a float cut off", "0800000000", "TRUNCATED", 1, ""),
    ("text that is longer than what is left", "090561", "COUNT_TOO_LARGE", 1, ""),
    ("text that is no UTF-8", "0901ff", "INVALID_UTF8", 1, ""),
    ("text with half of a surrogate pair", "0903eda080", "INVALID_UTF8", 1, ""),
    ("a length that is not the shortest", "09810061", "MALFORMED_NUMBER", 1, ""),
    ("a length without end", "09ffffffffff", "MALFORMED_NUMBER", 1, ""),
    ("a length above 32 bits", "09ffffffffffffffffff01", "MALFORMED_NUMBER", 1, ""),
    ("a length cut off", "0980", "TRUNCATED", 1, ""),
    ("a list of four thousand millions", "0dffffffff0f", "COUNT_TOO_LARGE", 1, ""),
    ("a list cut off", "0d020301", "TRUNCATED", 4, "[1]"),
    ("a list that is a row of integers", "0d0203010302", "WRONG_WIRE_TYPE", 0, ""),
    ("a list that is a row of floats", "0d01080000000000000000", "WRONG_WIRE_TYPE", 0, ""),
    ("a row of integers without values", "0e00", "MALFORMED_NUMBER", 1, ""),
    ("a row that is wider than needed", "0e050100", "MALFORMED_NUMBER", 1, ""),
    ("a row cut off", "0e0801", "COUNT_TOO_LARGE", 1, ""),
    ("a row of floats without values", "0f00", "MALFORMED_NUMBER", 1, ""),
    ("a row of floats cut off", "0f0100", "COUNT_TOO_LARGE", 1, ""),
    ("a map with a key that is a float", "1001080000000000000000" + "00", "WRONG_WIRE_TYPE", 2, "[key 0]"),
    ("a map with a key that is none", "10010000", "WRONG_WIRE_TYPE", 2, "[key 0]"),
    ("a map with a key that is a bool", "10010200", "WRONG_WIRE_TYPE", 2, "[key 0]"),
    ("a map with a key that is a timestamp", "10010b000000000000000000", "WRONG_WIRE_TYPE", 2, "[key 0]"),
    ("a map with a key twice", "1002030100030100", "KEYS_NOT_ASCENDING", 5, "[key 1]"),
    ("a map with keys that descend", "1002030200030100", "KEYS_NOT_ASCENDING", 5, "[key 1]"),
    ("a map cut off", "1001", "COUNT_TOO_LARGE", 1, ""),
    ("a fault in a map in a list", "0d011001090161" + "09" + "01ff", "INVALID_UTF8", 8, "[0]['a']"),
    ("an array of no dtype", "11000000", "UNKNOWN_ENUM_VALUE", 1, ""),
    ("an array of a dtype above 13", "110e0000", "UNKNOWN_ENUM_VALUE", 1, ""),
    ("an array of 17 dimensions", "110611" + "01" * 17, "DEPTH_EXCEEDED", 2, ""),
    ("an array with filling of another length", "11060101" + "02" + "0000" + "00", "WRONG_LENGTH", 4, ""),
    ("an array with filling that is not zero", "11060101" + "03" + "000100" + "00", "WRONG_LENGTH", 4, ""),
    (
        "an array that is longer than what is left",
        "110601" + "09" + "03" + "000000" + "00",
        "COUNT_TOO_LARGE",
        1,
        "",
    ),
    (
        "an array whose size has more than 64 bits",
        "110b02" + "ffffffffffffffff7f" * 2 + "02" + "0000",
        "COUNT_TOO_LARGE",
        1,
        "",
    ),
    ("an array of bools that are none", "11010101" + "03" + "000000" + "02", "INVALID_BOOL", 8, ""),
    ("an array cut off", "1106", "TRUNCATED", 1, ""),
    ("a declared type without a name", "1200" + "00" * 16 + "00", "COUNT_TOO_LARGE", 1, ""),
    ("a declared type without its fingerprint", "120161" + "00" * 15, "TRUNCATED", 3, ""),
    ("65 lists", "0d01" * 64 + "0d00", "DEPTH_EXCEEDED", 128, "[0]" * 64),
]

HOSTILE_MESSAGES: list[tuple[str, str, str, int, str]] = [
    ("nothing", "", "TRUNCATED", 0, ""),
    ("257 attributes", "8102", "COUNT_TOO_LARGE", 0, ""),
    ("an attribute without a name", "010000", "COUNT_TOO_LARGE", 1, ""),
    ("a name cut off", "010561", "TRUNCATED", 1, ""),
    ("no name at all", "01", "TRUNCATED", 1, ""),
    ("a name that is no UTF-8", "0101ff00", "INVALID_UTF8", 1, ""),
    ("names that descend", "020162000161" + "00", "KEYS_NOT_ASCENDING", 4, ""),
    ("a name twice", "020161000161" + "00", "KEYS_NOT_ASCENDING", 4, ""),
    ("src among the attributes", "0103737263" + "00", "UNKNOWN_ALTERNATIVE", 1, ""),
    ("dest among the attributes", "010464657374" + "00", "UNKNOWN_ALTERNATIVE", 1, ""),
    ("something behind it", "0000", "TRAILING_BYTES", 1, ""),
    ("a fault in a value", "0104646174610d0209016109" + "01ff", "INVALID_UTF8", 12, "data[1]"),
]


def hostile(rows: list[tuple[str, str, str, int, str]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "hex": data, "fault": fault, "offset": offset, "path": path}
        for name, data, fault, offset, path in rows
    ]


def text_of() -> dict[str, str]:
    """The files, by name."""
    files: dict[str, Any] = {
        "values.json": [
            {"name": name, "value": value, "hex": encoded(value).hex()} for name, value in VALUES.items()
        ],
        "messages.json": [
            {"name": name, "attributes": attributes, "hex": message(attributes).hex()}
            for name, attributes in MESSAGES.items()
        ],
        "hostile.json": {"values": hostile(HOSTILE), "messages": hostile(HOSTILE_MESSAGES)},
    }
    return {name: json.dumps(content, indent=1, ensure_ascii=False) + "\n" for name, content in files.items()}


if __name__ == "__main__":
    for name, text in text_of().items():
        (HERE / name).write_text(text, "utf-8")
