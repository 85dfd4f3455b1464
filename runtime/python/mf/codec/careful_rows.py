"""R1. The careful reader's integers in blocks of one width (docs/protocol.md, section 8, "Rows" and "Maps of
integers").

    read_row(r, shape, name, entry)           a list or set; `entry`: the memory of a place in it
    read_blocks(r, shape, name, count)        an array
    read_entries(r, shape, names, count)      a map, behind its count: keys and values

`name` is the integer type on the wire, `shape` what the numbers stand for.
"""

from typing import TYPE_CHECKING, Any

from mf.codec import rows, sizes
from mf.codec import shape as s
from mf.codec.careful_error import bytes_said
from mf.codec.fault import Fault
from mf.codec.limits import U32_MAX, U64_MAX
from mf.codec.malformed import MalformedError

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader


def read_row(r: "CarefulReader", shape: s.Shape, name: str, entry: int, *, ascending: bool) -> list[Any]:
    """Integers behind their head."""
    at = r.pos
    head = r._unsigned(U64_MAX)
    count, code = head >> 2, head & 3
    if count > U32_MAX:
        raise r.fail(Fault.NUMBER_OUT_OF_RANGE, f"{count} elements are more than {U32_MAX}", at)
    if count == 0 and code:
        raise r.fail(Fault.MALFORMED_NUMBER, "a code without values", at)
    _check_code(r, code, name, at)
    r.check_items(count, 1, at)
    r.charge(count * (entry + sizes.memory(shape)))
    if isinstance(shape, s.Scalar) and shape.name == name and not ascending:
        try:
            numbers, r.pos = rows.READERS[name](r._data, at)
        except (MalformedError, IndexError):
            pass  # what is wrong?
        else:
            return numbers
    return read_blocks(r, shape, name, count, (code,), ascending=ascending)


def read_blocks(
    r: "CarefulReader",
    shape: s.Shape,
    name: str,
    count: int,
    first: tuple[int, ...] = (),
    *,
    ascending: bool = False,
) -> list[Any]:
    """Codes and values; `first`: the code of block 0, if it is known."""
    blocks = -(-count // rows.BLOCK)
    codes = [*first[:blocks], *_codes(r, blocks - len(first), name)]
    r._need(sum(min(rows.BLOCK, count - rows.BLOCK * at) << code for at, code in enumerate(codes)))
    elements: list[Any] = []
    for code in codes:
        _add_block(
            r, shape, name, code, min(rows.BLOCK, count - len(elements)), elements, ascending=ascending
        )
    return elements


def read_entries(
    r: "CarefulReader", shape: s.Map, names: tuple[str, str], count: int
) -> tuple[list[Any], list[Any]]:
    """Block by block: its codes, all of its keys, and then all of its values."""
    keys: list[Any] = []
    values: list[Any] = []
    while len(keys) < count:
        size = min(rows.BLOCK, count - len(keys))
        at = r.pos
        code = r._take(1)[0]
        if code > 15:
            raise r.fail(Fault.MALFORMED_NUMBER, "bits that are no code", at)
        sides = (shape.key, names[0], code & 3, keys), (shape.value, names[1], code >> 2, values)
        for _, name, own, _ in sides:
            _check_code(r, own, name, at)
        for side, name, own, known in sides:
            r._need(size << own)
            _add_block(r, side, name, own, size, known, ascending=known is keys)
    return keys, values


def _add_block(
    r: "CarefulReader", shape: s.Shape, name: str, code: int, count: int, known: list[Any], *, ascending: bool
) -> None:
    """Integers of one width, which are there; `known`: the ones before."""
    size = 1 << code
    for index in range(len(known), len(known) + count):
        at = r.pos
        number = int.from_bytes(r._data[at : at + size], "little", signed=name[0] == "i")
        r.pos += size
        r._path.item(index)
        known.append(_meant(r, shape, number, at))
        if ascending:
            r._ascending(known, at)
        r._path.back()


def _codes(r: "CarefulReader", count: int, name: str) -> list[int]:
    if count <= 0:
        return []
    at = r.pos
    packed = r._take(-(-count // 4))
    codes = [byte >> 2 * place & 3 for byte in packed for place in range(4)]
    for index, code in enumerate(codes):
        if index < count:
            _check_code(r, code, name, at + index // 4)
        elif code:
            raise r.fail(Fault.MALFORMED_NUMBER, "a code of no block", at + index // 4)
    return codes[:count]


def _check_code(r: "CarefulReader", code: int, name: str, at: int) -> None:
    if 8 << code > int(name[1:]):
        reason = f"values of {bytes_said(1 << code)} in a row of {name}"
        raise r.fail(Fault.NUMBER_OUT_OF_RANGE, reason, at)


def _meant(r: "CarefulReader", shape: s.Shape, number: int, at: int) -> Any:
    """The element of a row that this number stands for."""
    match shape:
        case s.Checked():
            return r._checked(shape.rules, _meant(r, shape.shape, number, at), at)
        case s.Enum():
            return r._member(shape, number, at)
        case s.Scalar():
            return r._timed(shape.name, number)
        case _:
            raise TypeError(f"{type(shape).__name__} stands in no row")
