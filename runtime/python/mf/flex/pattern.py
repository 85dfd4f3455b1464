"""The pattern of a receiver: criteria by attribute, compiled once for each `recv`.

    tag="input"                 an equal value of the same kind: 1 is neither 1.0 nor True
    tag=ANY                     the attribute is present, with any value
    tag=int, hit=Hit            a value of this kind
    tag=lambda t: t in (1, 2)   the function returns True for the value

Criteria without functions form the `shape` (which names, and how they are compared) and the `key` (the values
compared with), by which an index finds messages. Functions are called only for messages found that way, once
for each distinct value.
"""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from mf.codec.flex.declared import Typed, known_of
from mf.codec.flex.kinds import MAX_NAME
from mf.codec.flex.writer import encode, refuse
from mf.codec.times import Timestamp
from mf.codec.writer import is_array
from mf.flex.message import Message, everything

Test = Callable[[Any], Any]
Key = tuple[Any, ...]


class _Any:
    """The type of `ANY`: the attribute is present."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "mf.flex.ANY"


ANY: Final = _Any()

_SAME, _KIND, _PRESENT = 0, 1, 2
_OWN_KEYS: Final = frozenset((int, str))
_KINDS: Final[dict[type, str]] = {
    type(None): "none",
    bool: "bool",
    int: "int",
    float: "f64",
    str: "text",
    bytes: "bytes",
    Timestamp: "timestamp",
    UUID: "uuid",
    list: "list",
    dict: "map",
}
_ABSENT: Final = object()


class Shape:
    """Which attributes are looked up, and how. Patterns of the same shape share one object."""

    __slots__ = ("_dims", "_values", "tests")

    def __init__(self, dims: tuple[tuple[str, int], ...], tests: tuple[str, ...]) -> None:
        self._dims = dims
        self.tests = tests
        # Where two or more values are compared and nothing else is, they are taken all at once.
        several = len(dims) > 1 and all(mode == _SAME for _, mode in dims)
        self._values = itemgetter(*(name for name, _ in dims)) if several else None

    def key_of(self, message: Message) -> Key | None:
        """The key of a message in this shape; None if it lacks an attribute of the shape."""
        values = everything(message)
        if self._values is not None:
            try:
                found: Key = self._values(values)
            except KeyError:
                return None
            if _OWN_KEYS.issuperset(map(type, found)):
                return found
        key = []
        for name, mode in self._dims:
            value = values.get(name, _ABSENT)
            if value is _ABSENT:
                return None
            if mode == _SAME:
                key.append(value if type(value) in _OWN_KEYS else value_key(value))
            elif mode == _KIND:
                key.append(kind_of(value))
        return tuple(key)

    def tested_of(self, message: Message) -> Key | None:
        """The key of the values that functions are called with; None if one is missing."""
        key = []
        for name in self.tests:
            if name not in message:
                return None
            key.append(value_key(message[name]))
        return tuple(key)


class Pattern:
    """`key`, `shape`: see the head of this file. `tests`: a function for each name in `shape.tests`."""

    __slots__ = ("_criteria", "key", "shape", "tests")

    def __init__(self, shape: Shape, key: Key, tests: tuple[Test, ...], criteria: Mapping[str, Any]) -> None:
        self.shape = shape
        self.key = key
        self.tests = tests
        self._criteria = criteria

    def passes(self, message: Message) -> bool:
        """Whether all functions return True; they run in the order of the names and may raise."""
        return all(test(message[name]) for name, test in zip(self.shape.tests, self.tests, strict=True))

    def __repr__(self) -> str:
        return ", ".join(f"{name}={_shown(value)}" for name, value in self._criteria.items()) or "anything"


_shapes: Final[dict[tuple[tuple[tuple[str, int], ...], tuple[str, ...]], Shape]] = {}
_plain: Final[dict[tuple[str, ...], Shape]] = {}  # for criteria that are all int or str
_MOST_SHAPES: Final = 4096


def pattern(criteria: Mapping[str, Any]) -> Pattern:
    """Raises Error(INVALID_ARGUMENT) for a value that no message can have."""
    names = tuple(criteria)
    plain = _plain.get(names)
    if plain is not None and _OWN_KEYS.issuperset(map(type, criteria.values())):
        return Pattern(plain, tuple(criteria.values()), (), criteria)
    made = _pattern(criteria)
    in_order = list(names) == sorted(names)  # then the values in this order are the key
    if in_order and len(_plain) < _MOST_SHAPES and _OWN_KEYS.issuperset(map(type, criteria.values())):
        _plain[names] = made.shape
    return made


def _pattern(criteria: Mapping[str, Any]) -> Pattern:
    dims: list[tuple[str, int]] = []
    key: list[Any] = []
    tests: dict[str, Test] = {}
    for name in sorted(criteria) if len(criteria) > 1 else criteria:
        wanted = criteria[name]
        kind = type(wanted)
        if kind in _OWN_KEYS:
            dims.append((name, _SAME))
            key.append(wanted)
        elif wanted is ANY:
            dims.append((name, _PRESENT))
        elif isinstance(wanted, type):
            dims.append((name, _KIND))
            key.append(_asked_kind(name, wanted))
        elif callable(wanted):
            tests[name] = wanted
        else:
            dims.append((name, _SAME))
            key.append(_asked_value(name, wanted))
    about = (tuple(dims), tuple(tests))
    shape = _shapes.get(about)
    if shape is None:
        if any(not 1 <= len(name.encode("utf-8", "replace")) <= MAX_NAME for name in criteria):
            refuse(f"the name of an attribute has 1 to {MAX_NAME} bytes")
        shape = Shape(*about)
        if len(_shapes) < _MOST_SHAPES:
            _shapes[about] = shape
    return Pattern(shape, tuple(key), tuple(tests.values()), criteria)


def value_key(value: Any) -> Any:
    """A key that is equal for equal values of one kind: an int or str itself, otherwise the encoded bytes. A
    value that contains an array equals nothing."""
    if type(value) in _OWN_KEYS:
        return value
    if _holds_array(value):
        return object()
    return encode(value)


def kind_of(value: Any) -> Any:
    found = _KINDS.get(type(value))
    if found is not None:
        return found
    if type(value) is Typed:
        return (value.name, value.fingerprint)
    if is_array(value):
        return "array"
    known = known_of(type(value))
    return None if known is None else (known.name, known.fingerprint)


def _holds_array(value: Any) -> bool:
    if type(value) is list:
        return any(map(_holds_array, value))
    if type(value) is dict:
        return any(map(_holds_array, value.values()))
    return is_array(value)


def _asked_value(name: str, wanted: Any) -> Any:
    if _holds_array(wanted):
        refuse(f"{name}: arrays are not compared; ask for the kind or by a function")
    return encode(wanted, path=name)


def _asked_kind(name: str, wanted: type) -> Any:
    found = _KINDS.get(wanted)
    if found is not None:
        return found
    if wanted.__module__ == "numpy" and wanted.__name__ == "ndarray":
        return "array"
    known = known_of(wanted)
    if known is None:
        refuse(f"{name}: no value of a message is of {wanted.__qualname__}")
    return (known.name, known.fingerprint)


def _shown(value: Any) -> str:
    text = getattr(value, "__qualname__", None) or repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
