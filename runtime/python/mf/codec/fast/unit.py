"""R1. One text under construction: its lines, its names, and the globals that it will run with."""

from collections.abc import Callable, Iterable, Iterator
from itertools import starmap
from struct import Struct as Packer
from typing import Any, Final

from mf.codec import checks, rows, sequences, sizes, varint
from mf.codec import shape as s
from mf.codec.malformed import MalformedError
from mf.codec.times import Duration, Timestamp

_HELPERS: Final = {
    name: each
    for module in (rows, varint, sequences)
    for name, each in vars(module).items()
    if name.startswith(("read_", "write_"))
} | {
    "BOOL": sequences.BOOL,
    "Duration": Duration,
    "MalformedError": MalformedError,
    "Timestamp": Timestamp,
    "ascending": checks.ascending,
    "as_bytes": sequences.as_bytes,
    "bool_of": checks.bool_of,
    "exactly": checks.exactly,
    "fits": checks.fits,
    "in_order": checks.in_order,
    "members_of": checks.members_of,
    "listed": checks.listed,
    "new": object.__new__,
    "no_parts": checks.no_parts,
    "starmap": starmap,
}


class Unit:
    """Names end in a number of their own, so that no field is called like a helper or a keyword.

    `globals` holds the helpers and the constants of the text; `links` what it calls of other types, which is
    filled in when all of them have been made. `lenient`: its readers are the second ones (mf.codec.fast).
    """

    def __init__(self, deep: "set[s.Composite]", *, lenient: bool = False) -> None:
        self.lenient: Final = lenient
        self.globals: dict[str, Any] = dict(_HELPERS)
        self.links: dict[str, tuple[s.Composite, str]] = {}
        self._deep = deep
        self._known: dict[tuple[str, Any], str] = {}
        self._count = 0

    def local(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def constant(self, stem: str, value: Any) -> str:
        """The name of a global with this value; the same value has one name."""
        key = (stem, id(value))
        if key not in self._known:
            self._known[key] = self.local(stem)
            self.globals[self._known[key]] = value
        return self._known[key]

    def packer(self, layout: str, function: str) -> str:
        """`pack` or another function of a `struct.Struct`."""
        key = (function, layout)
        if key not in self._known:
            self._known[key] = self.local(function)
            self.globals[self._known[key]] = getattr(Packer(f"<{layout}"), function)
        return self._known[key]

    def function(self, other: s.Composite, what: str) -> str:
        key = (what, id(other))
        if key not in self._known:
            self._known[key] = self.local(what)
            self.links[self._known[key]] = other, what
        return self._known[key]

    def uuid(self) -> str:
        """Imported only for types that have a uuid: importing the module is slow."""
        from uuid import UUID

        return self.constant("UUID", UUID)

    def sequence(self, what: str, name: str) -> str:
        """The helper that reads or writes a run of one built-in type."""
        helper = f"{what}_{_PLURALS.get(name, f'{name}s')}"
        if name == "uuid":
            from mf.codec import uuids

            self.globals[helper] = getattr(uuids, helper)
        return helper

    def each(self, element: s.Shape, values: str) -> str:
        """Numbers as they were read -> a list of the values that they stand for."""
        match bare(element):
            case s.Enum(values=known):
                return f"list(map({self.constant('values', known)}.__getitem__, {values}))"
            case s.Scalar(name="timestamp"):
                return f"list(map(Timestamp, {values}))"
            case s.Scalar(name="duration"):
                return f"list(map(Duration, {values}))"
            case _:
                return values

    def charged(self, memory: str) -> list[str]:
        """Statements that take memory from what a message may have, in readers that keep an account."""
        return [f"data.charge({memory})"] if self.lenient and memory != "0" else []

    def is_deep(self, shape: s.Shape) -> bool:
        """Whether values of the type can nest without bound: its functions then count how deep they are."""
        return shape in self._deep


_PLURALS: Final = {"string": "strings", "bytes": "blobs"}


def indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    pad = "    " * levels
    return [pad + line for line in lines]


def integer_of(shape: s.Shape) -> str | None:
    """The varint that a value is, or None: u16 to u64, i16 to i64, duration, enums of such a base."""
    return sizes.row_of(shape)


def unzigzagged(local: str) -> str:
    return f"(~({local} >> 1) if {local} & 1 else {local} >> 1)"


def bare(shape: s.Shape) -> s.Shape:
    """Without its constraints, which are checked on their own."""
    while isinstance(shape, s.Checked):
        shape = shape.shape
    return shape


def runs(fields: Iterable[s.Field], is_fixed: Callable[[s.Shape], bool]) -> Iterator[list[s.Field]]:
    """Neighbours of fixed size together, every other field alone."""
    run: list[s.Field] = []
    for each in fields:
        if is_fixed(each.shape):
            run.append(each)
            continue
        if run:
            yield run
        run = []
        yield [each]
    if run:
        yield run
