"""R1. The writer: the bytes so far, and how deep the value is that is written just now.

The functions that write values of a type are made of its shape (mf.codec.coding) and take a `Writer`. They
append, or raise a `CodecError` that says what is wrong with a value, to which each level above adds its step
of the path. After a failure the writer is of no more use.
"""

import operator
from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

from mf.codec.failure import CodecError, digits, shown
from mf.codec.limits import MAX_DEPTH, U32_MAX
from mf.codec.rules import Rule
from mf.codec.varint import write_unsigned


class Writer:
    """`graph`: the one that is written just now, in tier archive."""

    __slots__ = ("depth", "graph", "out")

    def __init__(self) -> None:
        self.out = bytearray()
        self.depth = 0
        self.graph: Any = None

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.too_deep()

    def too_deep(self) -> CodecError:
        return CodecError(f"nested deeper than {MAX_DEPTH}")

    def count(self, count: int) -> None:
        if count < 128:
            self.out.append(count)
        elif count > U32_MAX:
            raise CodecError(f"{count} elements are more than a message can count")
        else:
            write_unsigned(self.out, count, U32_MAX)


def check(rules: Iterable[Rule], value: Any) -> None:
    if value is not None:
        for rule in rules:
            reason = rule.violation(value)
            if reason is not None:
                raise CodecError(reason)


# --- What values must be


_HINTS: Final = {
    ("timestamp", "datetime"): "mf.Timestamp.from_datetime makes one",
    ("duration", "timedelta"): "mf.Duration.from_timedelta makes one",
    ("duration", "float"): "mf.Duration.from_seconds makes one",
    ("bytes", "str"): "its method encode makes bytes",
    ("str", "bytes"): "its method decode makes a str",
    ("uuid.UUID", "str"): "uuid.UUID makes one of a text",
    ("a list", "generator"): "list makes one of it",
    ("a set", "list"): "set makes one of it",
}
"""What to do about mistakes that many make, by what is expected and the class of what is given."""


def expected(wanted: str, value: Any) -> CodecError:
    hint = _HINTS.get((wanted, type(value).__name__))
    return CodecError(f"expected {wanted}, got {shown(value)}" + (f"; {hint}" if hint else ""))


def check_set(fields: Iterable[tuple[str, str]], value: object) -> None:
    """Raises a CodecError if an attribute of an object of the right class is not set. `fields`: names in the
    schema, and in the class."""
    for name, attribute in fields:
        if not hasattr(value, attribute):
            failure = CodecError("it is not set; a derived class has to call the constructor of its base")
            failure.in_field(name)
            raise failure from None


def integer(wanted: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise expected(wanted, value) from None


def in_range(name: str, low: int, high: int, value: Any) -> int:
    number = integer(name, value)
    if not low <= number <= high:
        raise CodecError(f"{digits(number)} does not fit in {name} ({low} to {high})")
    return number


def is_bool(value: Any) -> bool:
    """Also 0 or 1, and those of other libraries; but no float or Decimal, as integers take none."""
    is_whole = hasattr(value, "__index__") or type(value).__name__ in ("bool", "bool_")
    return is_whole and value in (False, True)


def truth(value: Any) -> bool:
    if value is True or value is False:
        return value is True
    if not is_bool(value):
        raise expected("bool", value)
    return bool(value)


def utf8(value: Any) -> bytes:
    if not isinstance(value, str):
        raise expected("str", value)
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise CodecError(f"text with a lone surrogate at {error.start}") from None


def blob(value: Any) -> bytes:
    """The bytes of anything with a buffer, an array of numbers too; a list of numbers is refused."""
    if type(value) is bytes:
        return value
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise expected("bytes", value) from None


def is_list(values: object) -> bool:
    """Has it elements in an order, to be looked at more than once? No text, set, dict or iterator has."""
    return hasattr(values, "__len__") and not isinstance(values, (str, bytes, bytearray, Mapping, Set))


def is_array(value: object) -> bool:
    """Of numpy, which this does not import: a program that has an array has imported it already."""
    return type(value).__module__ == "numpy" and hasattr(value, "__array_interface__")


def listed(value: Any) -> Any:
    """A sequence as it is given, perhaps a buffer of numbers."""
    if type(value) is not list and not is_list(value):
        raise expected("a list", value)
    return value


def elements(value: Any) -> list[Any]:
    """A list of Python's own."""
    if type(value) is list:
        return value
    if not is_list(value):
        raise expected("a list", value)
    tolist = getattr(value, "tolist", None)
    try:
        return list(value if tolist is None else tolist())
    except (TypeError, NotImplementedError):
        raise expected("a list", value) from None


def exactly(value: Any, length: int) -> Any:
    if len(listed(value)) != length:
        raise CodecError(f"expected exactly {length} elements, got {len(value)}")
    return value


def changed() -> CodecError:
    """Of a container that another thread, or a user's codec, has changed meanwhile."""
    return CodecError("it was changed while it was written")


def in_order(keys: Iterable[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        raise CodecError("its keys are not all of one type") from None
    except RuntimeError:
        raise changed() from None


def members(value: Any) -> list[Any]:
    """Of a set, as they are written."""
    if type(value) is not set and not isinstance(value, Set):
        raise expected("a set", value)
    return in_order(value)


def mapping(value: Any) -> Any:
    if type(value) is not dict and not hasattr(value, "items"):
        raise expected("a dict", value)
    return value
