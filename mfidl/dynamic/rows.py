"""F6. Febird's rows: integers of 2, 4 or 8 bytes in blocks of 256, each block in the smallest width that
holds it.

    list, set   head = count x 4 + code of block 0, a varint; codes of blocks 1, 2, ...; values
    array       codes of blocks 0, 1, ...; values
    code        base-2 logarithm of the width; two bits each, the first in the lowest bits, unused bits 0
"""

import struct
from operator import lt

from mf.codec.fault import Fault
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.dynamic.wording import counted
from mfidl.plan.sizes import BLOCK

_MOST = (1 << 32) - 1
_LETTERS = {False: "BHIQ", True: "bhiq"}


def read_row(at: Decoding, number: Number, *, ascending: bool = False) -> list[Value]:
    start = at.pos
    head = at.varint(64, shortest=True)
    count, code = head >> 2, head & 3
    if count > _MOST:
        raise at.fail(Fault.NUMBER_OUT_OF_RANGE, f"a count of {count} does not fit in 32 bits", start)
    if count == 0 and code:
        raise at.fail(Fault.MALFORMED_NUMBER, f"a row without values has the code {code}", start)
    check_code(at, number, code, start)
    at.note(start, f"head: {counted(count, 'value')}" + (f" of {wide(code)}" if count else ""), None, head)
    at.check_count(count, 1, start)
    codes = [code, *_read_codes(at, number, max(_blocks(count) - 1, 0))] if count else []
    return _read_values(at, number, count, codes, ascending)


def read_array(at: Decoding, number: Number, length: int) -> list[Value]:
    return _read_values(at, number, length, _read_codes(at, number, _blocks(length)), False)


def write_row(to: Encoding, number: Number, values: list[int]) -> None:
    codes = [narrowest(number, block) for block in _cut(values)]
    to.varint(len(values) << 2 | (codes[0] if codes else 0))
    _write_codes(to, codes[1:])
    _write_values(to, number, values, codes)


def write_array(to: Encoding, number: Number, values: list[int]) -> None:
    codes = [narrowest(number, block) for block in _cut(values)]
    _write_codes(to, codes)
    _write_values(to, number, values, codes)


def _read_codes(at: Decoding, number: Number, count: int) -> list[int]:
    size = -(-count // 4)
    at.need(size)
    codes: list[int] = []
    for _ in range(size):
        start = at.pos
        byte = at.take(1)[0]
        inside = min(4, count - len(codes))
        here = [byte >> 2 * i & 3 for i in range(4)]
        for code in here[:inside]:
            check_code(at, number, code, start)
        if byte >> 2 * inside:
            raise at.fail(Fault.MALFORMED_NUMBER, "bits of a row's codes that no block has are set", start)
        at.note(start, "widths: " + ", ".join(wide(code) for code in here[:inside]), None, byte)
        codes += here[:inside]
    return codes


def _read_values(at: Decoding, number: Number, count: int, codes: list[int], ascending: bool) -> list[Value]:
    lengths = [min(BLOCK, count - i * BLOCK) for i in range(len(codes))]
    size = sum(length << code for length, code in zip(lengths, codes, strict=True))
    at.need(size)
    at.charge(8 * count)
    values: list[Value] = []
    place = at.pos
    for length, code in zip(lengths, codes, strict=True):
        values += struct.unpack_from(_form(number, length, code), at.data, place)
        place += length << code
    if at.listener is None and number.members is None and (not ascending or ascends(values)):
        at.pos += size
        return values
    for index, value in enumerate(values):
        at.path.steps.append(index)
        start = at.pos
        at.pos += 1 << codes[index // BLOCK]
        at.note(start, "value", number.type, value)
        at.checked(number, value, start)
        if ascending:
            check_order(at, values[max(index - 1, 0) : index + 1], start)
        at.path.steps.pop()
    return values


def _write_codes(to: Encoding, codes: list[int]) -> None:
    for i in range(0, len(codes), 4):
        to.data.append(sum(code << 2 * place for place, code in enumerate(codes[i : i + 4])))


def _write_values(to: Encoding, number: Number, values: list[int], codes: list[int]) -> None:
    for code, block in zip(codes, _cut(values), strict=True):
        to.data += pack(number, block, code)


def _cut(values: list[int]) -> list[list[int]]:
    return [values[i : i + BLOCK] for i in range(0, len(values), BLOCK)]


def _blocks(count: int) -> int:
    return -(-count // BLOCK)


# What the blocks of a map share with rows ------------------------------------------------------------------


def check_code(
    at: Decoding, number: Number, code: int, start: int, what: str = "values of {} in a row"
) -> None:
    if 1 << code > number.size:
        reason = f"{what.format(wide(code))} of a type of {number.size}"
        raise at.fail(Fault.NUMBER_OUT_OF_RANGE, reason, start)


def unpack(at: Decoding, number: Number, length: int, code: int) -> list[int]:
    """The numbers of a block, which must all be there. They are not passed yet."""
    at.need(length << code)
    return list(struct.unpack_from(_form(number, length, code), at.data, at.pos))


def pack(number: Number, block: list[int], code: int) -> bytes:
    return struct.pack(_form(number, len(block), code), *block)


def _form(number: Number, length: int, code: int) -> str:
    return f"<{length}{_LETTERS[number.is_signed][code]}"


def narrowest(number: Number, block: list[int]) -> int:
    low, high = min(block), max(block)
    for code in range(3):
        bits = 8 << code
        if number.is_signed:
            if -(1 << bits - 1) <= low and high < 1 << bits - 1:
                return code
        elif high < 1 << bits:
            return code
    return 3


def check_order(at: Decoding, two: list[Value], start: int) -> None:
    """Of the last two keys; Python compares strings by code point, which is the order of their UTF-8."""
    if len(two) == 2 and not two[0] < two[1]:
        reason = f"{_short(two[1])} behind {_short(two[0])}: keys are not strictly ascending"
        raise at.fail(Fault.KEYS_NOT_ASCENDING, reason, start)


def _short(value: Value) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def ascends(values: list[int]) -> bool:
    return all(map(lt, values, values[1:]))


def wide(code: int) -> str:
    return counted(1 << code, "byte")
