"""R1. Lists of numbers, and of structs of tier memcpy, as arrays of numpy: read where they lie in the
message, and written out of their memory.

    array_reader(element)           -> read(r): the array of a list, from its count or head on
    native_reader(element)          -> the same for the native codec
    array_bytes(element, values)    -> the bytes of an array's structs; None: it is no array of numpy
    dtype_of(shape)                 what numpy calls a layout, with our offsets

Arrays that were read cannot be written to. They refer to the message, whose memory lives as long as they do;
only integers that came in fewer bytes than their type has are widened into memory of their own. Nothing here
goes through the values one by one. numpy is imported when the first array is asked for.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mf.codec import blocks, layouts, sizes
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.failure import CodecError
from mf.codec.layout import format_of, places, rules_of
from mf.codec.limits import MAX_DEPTH
from mf.codec.reader import Reader
from mf.codec.writer import is_array
from mf.core.error import Code

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

Read = Callable[[Reader], Any]

_ARRAY: Final = 112
"""Memory of an array beside its elements."""


def dtype_of(shape: s.Shape) -> "np.dtype[Any]":
    """The layout of a type as numpy says it, with our offsets. Times are their i64, uuids 16 bytes."""
    import numpy as np

    plain = bare(shape)
    match plain:
        case s.Struct():
            fields = list(places(plain))
            layout: Any = {
                "names": [each.attribute for each, _ in fields],
                "formats": [dtype_of(each.shape) for each, _ in fields],
                "offsets": [offset for _, offset in fields],
                "itemsize": sizes.layout(plain)[0],
            }
            made: np.dtype[Any] = np.dtype(layout)
            return made
        case s.Array(element=element, length=length):
            return np.dtype((dtype_of(element), (length,)))
        case _:
            letter = layouts.letter_of(plain)
            return np.dtype("V16" if letter is None else f"<{letter}" if letter != "?" else "?")


# --- Reading


def array_reader(element: s.Shape) -> Read:
    """`element` is one of which `sizes.is_array_element` holds. Reads None, and leaves the reader where it
    was, if one of them is wrong: read as a list, it has its place."""
    name = sizes.row_of(element)
    read_array: Read | None = None

    def read(r: Reader) -> Any:
        nonlocal read_array
        if read_array is None:
            read_array = _laid_out(element) if name is None else _row(element, name)
        at, budget = r.pos, r.budget
        r.enter()
        r.charge(_ARRAY)
        array = read_array(r)
        r.depth -= 1
        if array is None:
            r.pos, r.budget = at, budget
        return array

    return read


def native_reader(element: s.Shape) -> Callable[[Any, int, int, int, int], Any]:
    """Takes data, position, end, budget and depth; returns the array, the position behind it and the budget
    that is left; None: the pure codec says what is wrong."""
    read = array_reader(element)

    def read_natively(data: Any, pos: int, end: int, budget: int, depth: int) -> Any:
        r = Reader(data, budget, pos)
        r.end, r.depth = end, depth
        try:
            array = read(r)
        except CodecError:
            return None
        return None if array is None else (array, r.pos, int(r.budget))

    return read_natively


def _laid_out(element: s.Shape) -> Callable[[Reader], "Array | None"]:
    """Of elements that lie in the message as they do in memory."""
    import numpy as np

    dtype, size, is_struct = dtype_of(element), sizes.layout(element)[0], isinstance(element, s.Struct)

    def read(r: Reader) -> "Array | None":
        count = r.count(size, 0, 0)
        pos = r.pos
        r.pos = end = pos + count * size
        if count and is_struct and r.depth == MAX_DEPTH:
            return None
        if count and not layouts.are_good(element, memoryview(r.data)[pos:end]):
            return None
        return _view(np, r.data, dtype, count, pos)

    return read


def _row(element: s.Shape, name: str) -> Callable[[Reader], "Array | None"]:
    """Of integers in blocks of one width."""
    import numpy as np

    dtype, rules = np.dtype(f"<{name[0]}{int(name[1:]) // 8}"), rules_of(element)
    head_of = blocks.head_reader(element, name)

    def read(r: Reader) -> "Array | None":
        count, runs = head_of(r)
        if len(runs) == 1 and 1 << runs[0][0] == dtype.itemsize:
            made = _view(np, r.data, dtype, count, r.pos)
            r.pos += made.nbytes
        else:
            r.charge(count * dtype.itemsize)
            made = np.empty(count, dtype)
            for code, begin, end in runs:
                made[begin:end] = np.frombuffer(r.data, f"<{name[0]}{1 << code}", end - begin, r.pos)
                r.pos += end - begin << code
            made.flags.writeable = False
        if rules:
            numbers: Any = (made if made.flags.aligned else made.copy()).data
            if not all(rule.holds_all(numbers) for rule in rules):
                return None
        return made

    return read


def _view(np: Any, data: Any, dtype: "np.dtype[Any]", count: int, pos: int) -> "Array":
    # numpy refuses an offset at the end of the buffer.
    made: Array = np.frombuffer(data, dtype, count, pos) if count else np.zeros(0, dtype)
    made.flags.writeable = False
    return made


# --- Writing


def array_bytes(element: s.Struct, values: Any) -> memoryview | None:
    """Raises CodecError for an array of another layout, or with a value that the schema does not allow."""
    if not is_array(values) or values.dtype.names is None:
        return None
    wanted = dtype_of(element)
    name = element.name.rpartition(".")[2]
    if values.dtype != wanted or values.ndim != 1:
        raise CodecError(
            f"expected a one-dimensional array with mf.numpy_dtype({name}), got {_shown(values)}"
        )
    if "x" in format_of(element):  # it has bytes between its fields
        values = _without_padding(values, wanted)
    elif not values.flags.c_contiguous:
        values = values.copy()
    data = memoryview(values.view("u1")) if len(values) else memoryview(b"")
    if len(values) and not layouts.are_good(element, data):
        wrong = layouts.wrong_item(element, data)
        wrong.offset, wrong.code = None, Code.INVALID_ARGUMENT
        raise wrong
    return data


def _shown(values: Any) -> str:
    named = values.dtype.names
    return f"{values.ndim} dimensions of {', '.join(named)}, {values.dtype.itemsize} bytes each"


def _without_padding(values: Any, dtype: "np.dtype[Any]") -> Any:
    """A copy whose bytes between the fields are zero, as those of every message are."""
    import numpy as np

    made = np.zeros(len(values), dtype)
    _copy_fields(values, made)
    return made


def _copy_fields(of: Any, to: Any) -> None:
    for name in of.dtype.names:
        if of.dtype[name].base.names is None:
            to[name] = of[name]
        else:
            _copy_fields(of[name], to[name])
