"""Maps of integers, bytes worked out from docs/protocol.md, section 8, by no code of ours; make.py puts them
into febird.json. What mfidl/dynamic makes of drawn values could be wrong as its reading of the law is;
these could not.
"""

import struct
from collections.abc import Iterator
from typing import Any

TYPE = "vectors.wide.Blocks"
# Field, its JSON and its bytes; other fields are empty.
_FIELDS = ("ints", "shorts", "longs", "waits", "signs", "bits", "serials", "words", "ranks", "nested")
_KEYS_256 = struct.pack("<256H", *range(256)).hex()

INTS = ("ints", '{"-1":300,"5":-1,"7":0}', "03 04 ff0507 2c01 ffff 0000")
SHORTS = ("shorts", '{"255":"-1","256":"1099511627776"}', "02 0d ff00 0001 ffffffffffffffff 0000000000010000")
LONGS = (
    "longs",
    '{"1":128,"18446744073709551615":-129}',
    "02 07 0100000000000000 ffffffffffffffff 8000 7fff",
)
WAITS = ("waits", '{"minus":"0.000000128s","plus":"-0.000000001s"}', "02 04 ff01 8000 ffff")
SIGNS = ("signs", '{"-1":"least","0":"minus","1":"most"}', "03 08 ff0001 00000080 ffffffff ffffff7f")
BITS = (
    "bits",
    '{"en":[],"ko":["low"],"last":["high"]}',
    "03 0d 0000 2c01 ffff 0000000000000000 0100000000000000 0000000000000080",
)
SERIALS = (
    "serials",
    '{"least":4294967295,"first":0}',
    "02 0b 0000000000000080 0000000000000000 ffffffff 00000000",
)
WORDS = ("words", '{"-32768":"last","1":"en"}', "02 05 0080 0100 ffff 0000")
RANKS = ("ranks", '{"5":"bm25","300":"both"}', "02 05 00 ac02 07")  # in pairs: u8 is no row
NESTED = (
    "nested",
    '{"1":{"-2":3},"300":{}}',
    "02 01 01 00 fe 03 ac02 00",
)  # pairs, the first one with a block

_VECTORS = {
    "ten maps, all empty": (),
    "three entries, i32 to i32": (INTS,),
    "u16 to i64": (SHORTS,),
    "u64 to i16": (LONGS,),
    "an enum to durations": (WAITS,),
    "i64 to an enum": (SIGNS,),
    "an open enum to flags": (BITS,),
    "an open enum of eight bytes to u32": (SERIALS,),
    "i16 to an open enum": (WORDS,),
    "integers to enums of one byte": (RANKS,),
    "integers to maps of integers": (NESTED,),
    "all of them": (INTS, SHORTS, LONGS, WAITS, SIGNS, BITS, SERIALS, WORDS, RANKS, NESTED),
    "the most that a byte holds, signed": (("ints", '{"-128":127,"127":-128}', "02 00 807f 7f80"),),
    "a key one below what a byte holds, signed": (("ints", '{"-129":127}', "01 01 7fff 7f"),),
    "a value one above what a byte holds, signed": (("ints", '{"127":128}', "01 04 7f 8000"),),
    "the most that a byte holds, unsigned": (("shorts", '{"0":"0","255":"0"}', "02 00 00ff 0000"),),
    "the most that two bytes hold, signed": (("ints", '{"-32768":32767}', "01 05 0080 ff7f"),),
    "one more than two bytes hold, signed": (("ints", '{"-32769":32768}', "01 0a ff7fffff 00800000"),),
    "the most that four bytes hold, unsigned": (("longs", '{"4294967295":0}', "01 02 ffffffff 00"),),
    "one more than four bytes hold, unsigned": (("longs", '{"4294967296":0}', "01 03 0000000001000000 00"),),
    "one more than four bytes hold, signed": (("shorts", '{"1":"2147483648"}', "01 0c 01 0000008000000000"),),
}


def vectors() -> Iterator[dict[str, Any]]:
    for name, given in _VECTORS.items():
        yield _vector(name, *given)
    yield _vector("a whole block", ("ints", _object(range(256), "7"), f"8002 01 {_KEYS_256} {'07' * 256}"))
    first = f"8102 01 {_KEYS_256} {'07' * 256}"
    yield _vector("one entry more than a block", ("ints", _object(range(257), "7"), f"{first} 01 0001 07"))
    # Of 513 entries: keys of 1, 2 and 8 bytes, values of 2, 1 and 1.
    keys = [*range(256), *range(1000, 1256), 1 << 63]
    entries = ",".join(f'"{key}":{300 if place < 256 else -1}' for place, key in enumerate(keys))
    three = f"8104 04 {bytes(range(256)).hex()} {'2c01' * 256}"
    three += f"01 {struct.pack('<256H', *range(1000, 1256)).hex()} {'ff' * 256} 03 0000000000000080 ff"
    yield _vector("three blocks, each of other widths", ("longs", f"{{{entries}}}", three))


def _vector(name: str, *given: tuple[str, str, str]) -> dict[str, Any]:
    held = {field: (text, hexed) for field, text, hexed in given}
    fields = [(field, *held.get(field, ("{}", "00"))) for field in _FIELDS]
    members = ",".join(f'"{field}":{text}' for field, text, _ in fields)
    return {
        "name": f"Blocks by hand: {name}",
        "type": TYPE,
        "tier": "febird",
        "json": f"{{{members}}}",
        "hex": "".join(hexed for _, _, hexed in fields).replace(" ", ""),
        "by": "hand",
    }


def _object(keys: range, value: str) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key in keys) + "}"
