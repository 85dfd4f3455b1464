"""F6. Febird's maps of integers to integers (of 2, 4 or 8 bytes, as in rows): entries in blocks of 256.

map     count, a varint; blocks
block   code of its keys + 4 x code of its values, a byte; its keys; its values
code    as in rows: the smallest width that holds them all
"""

from mf.codec.fault import Fault
from mfidl.dynamic import rows
from mfidl.dynamic.decoding import Decoding
from mfidl.dynamic.encoding import Encoding
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.plan.sizes import BLOCK


def read(at: Decoding, key: Number, value: Number, count: int) -> dict[Value, Value]:
    """What follows the count."""
    found: dict[Value, Value] = {}
    last: list[int] = []  # the key before the block, which the block's first must be above
    for first in range(0, count, BLOCK):
        length = min(BLOCK, count - first)
        code_of_keys, code_of_values = _read_codes(at, key, value)
        keys = _read_half(at, key, length, first, code_of_keys, "key", last)
        values = _read_half(at, value, length, first, code_of_values, "value", None)
        found.update(zip(keys, values, strict=True))
        last = keys[-1:]
    return found


def write(to: Encoding, key: Number, value: Number, entries: list[tuple[int, int]]) -> None:
    for first in range(0, len(entries), BLOCK):
        keys = [each for each, _ in entries[first : first + BLOCK]]
        values = [each for _, each in entries[first : first + BLOCK]]
        code_of_keys, code_of_values = rows.narrowest(key, keys), rows.narrowest(value, values)
        to.data.append(code_of_keys | code_of_values << 2)
        to.data += rows.pack(key, keys, code_of_keys)
        to.data += rows.pack(value, values, code_of_values)


def _read_codes(at: Decoding, key: Number, value: Number) -> tuple[int, int]:
    start = at.pos
    byte = at.take(1)[0]
    if byte >> 4:
        raise at.fail(Fault.MALFORMED_NUMBER, "bits of a block's codes that mean nothing are set", start)
    code_of_keys, code_of_values = byte & 3, byte >> 2
    rows.check_code(at, key, code_of_keys, start, "keys of {} in a block")
    rows.check_code(at, value, code_of_values, start, "values of {} in a block")
    widths = f"keys of {rows.wide(code_of_keys)}, values of {rows.wide(code_of_values)}"
    at.note(start, f"widths: {widths}", None, byte)
    return code_of_keys, code_of_values


def _read_half(
    at: Decoding, number: Number, length: int, first: int, code: int, what: str, last: list[int] | None
) -> list[int]:
    """The keys or the values of a block: all must be there before one is checked, whether it is of its type,
    and, with `last`, whether it is greater than the previous one.
    """
    found = rows.unpack(at, number, length, code)
    if at.listener is None and number.members is None and (last is None or rows.ascends([*last, *found])):
        at.pos += length << code
        return found
    for index, each in enumerate(found, first):
        at.path.steps.append(index)
        start = at.pos
        at.pos += 1 << code
        # A value is far from its key, unlike in a pair: the label must distinguish them.
        at.note(start, what, number.type, each)
        at.checked(number, each, start)
        if last is not None:
            rows.check_order(at, [*last, each], start)
            last = [each]
        at.path.steps.pop()
    return found
