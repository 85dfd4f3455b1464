"""F5. Which declared types values can hold, for a whole program: what is found of one type is kept for those
that hold it, because most types of a large schema reach most others.
"""

from collections.abc import Iterable
from itertools import compress

from mfidl import model
from mfidl.plan.layout import Declared


class Reach:
    """Over the declared types of a program. A set of types is a number with a bit for each of them in the
    order of their full names: a set of names for each type would take the square of their count in words.
    """

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self._names = sorted(declared)
        self._bits = {name: 1 << at for at, name in enumerate(self._names)}
        self._held: dict[str, tuple[str, ...]] = {}
        self._reached: dict[str, int] = {}

    def of(self, types: Iterable[model.Type]) -> list[str]:
        """Full names, sorted, of the declared types that values of these types can hold."""
        found = 0
        for name in set(model.names_in(types)):
            if name not in self._reached:
                self._reached[name] = self._from(name)
            found |= self._reached[name]
        return list(compress(self._names, map("1".__eq__, reversed(f"{found:b}"))))

    def _from(self, start: str) -> int:
        found, pending = 0, [start]
        while pending:
            name = pending.pop()
            known = self._reached.get(name)
            if known is not None:
                found |= known
            elif not found & self._bits[name]:
                found |= self._bits[name]
                pending += self._held_by(name)
        return found

    def _held_by(self, name: str) -> tuple[str, ...]:
        if name not in self._held:
            declaration = self.declared[name]
            types: Iterable[model.Type] = ()
            if isinstance(declaration, model.Struct | model.Union):
                types = (field.type for field in model.members(declaration))
            self._held[name] = tuple(model.names_in(types))
        return self._held[name]
