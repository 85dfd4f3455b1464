"""R1. How JSON is read and written: for each type a function, a closure over those of the types in it, made
when it is first used and kept.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from mf.codec import shape as s
from mf.codec.archive_form import refers
from mf.codec.contents import bare

F = TypeVar("F", bound=Callable[..., Any])
Inner = Callable[..., F]
"""The function of a type that is part of another one; a second argument, True, for an object of a graph."""


class Functions(Generic[F]):
    """`table`: what makes the function of a shape, by its class. `graph`: that of a type that graphs begin
    with, which are written as their tables."""

    def __init__(
        self, table: "dict[type, Callable[[Any, Inner[F]], F]]", graph: "Callable[[Any, Inner[F]], F]"
    ) -> None:
        self._table: Final = table
        self._graph: Final = graph
        self._made: dict[tuple[s.Shape, bool], F] = {}

    def of(
        self, shape: s.Shape, inside: bool = False, around: "frozenset[tuple[s.Shape, bool]]" = frozenset()
    ) -> F:
        """`inside`: of a graph. `around`: what is being made just now. Raises TypeError for no JSON type."""
        key = shape, inside
        found = self._made.get(key)
        if found is None:
            if key in around:  # a type that holds itself is found when it is used
                return lambda *args: self.of(shape, inside)(*args)  # type: ignore[return-value] # as F is
            found = self._made[key] = self._new(bare(shape), inside, around | {key})
        return found

    def passing(self, shape: s.Shape) -> F:
        """That of a shape that is used once: nothing is kept."""
        return Functions(self._table, self._graph).of(shape)

    def _new(self, shape: s.Shape, inside: bool, around: "frozenset[tuple[s.Shape, bool]]") -> F:
        inside = inside and refers(shape)  # in a value of another tier begin graphs of their own
        make = next((self._table[kind] for kind in type(shape).__mro__ if kind in self._table), None)
        if isinstance(shape, s.Struct | s.Union) and shape.tables and not inside:
            make = self._graph
        if make is None:
            raise TypeError(f"{type(shape).__name__} has no JSON")
        return make(shape, lambda each, within=inside: self.of(each, within, around))
