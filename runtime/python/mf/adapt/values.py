"""R1. Values of the classes of one schema (made.py) to those of another, as a plan's conversions say.

A function is made of each conversion: `convert(value, graph) -> value`. None is one that gives the
value back as it is. Objects that are referred to are filled one after the other (`Graph`), so nothing
recurses along a chain of references. What cannot go over raises LostError, which gathers the path on its way
up.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from mf.adapt.made import Made
from mf.codec import shape as s
from mf.core.archive_struct import ArchiveStruct
from mf.evolution.rules import Conversion, How, Pair, Source, Verdict
from mf.evolution.types import Named, Scalar

Convert = Callable[[Any, "Graph"], Any]
Step = tuple[str, str, Convert | None, Callable[[], Any] | None, str]
"""Of one field of T: its attribute, that of F, how it is converted, what it is if it is absent, and its name
for paths."""
_new = object.__new__


class LostError(Exception):
    """A value cannot go over. `reason` says why, `path` where: names of fields and indices, the last first.
    `item`: which of several, -1 if it is the only one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str] = []
        self.item = -1

    def at(self, step: str) -> "LostError":
        self.path.append(step)
        return self

    def where(self) -> str:
        return "".join(reversed(self.path)).removeprefix(".")


class Graph:
    """The objects of one value that are referred to, by what they were."""

    __slots__ = ("_known", "_queue")

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Any] = {}
        self._queue: list[tuple[Callable[[Any, Any, Graph], None], Any, Any, str]] = []

    def meet(self, value: Any, of: "_Object") -> Any:
        key = id(value), id(of)
        found = self._known.get(key)
        if found is None:
            found, fill = of.begun(value)
            self._known[key] = found
            self._queue.append((fill, value, found, of.name))
        return found

    def remember(self, value: Any, of: "_Object", made: Any) -> None:
        """The root, to which others may refer."""
        self._known[id(value), id(of)] = made

    def finish(self) -> None:
        for fill, value, made, name in self._queue:  # grows while it is walked
            try:
                fill(value, made, self)
            except LostError as lost:
                raise lost.at(name) from None


class _Object(ABC):
    """How objects of one pair of types that may be referred to are made and filled. `name`: of the type, in
    paths."""

    name = ""

    @abstractmethod
    def begun(self, value: Any) -> tuple[Any, Callable[[Any, Any, Graph], None]]: ...


class _Struct(_Object):
    def __init__(self, class_: type, name: str = "") -> None:
        self.name = name
        self._class = class_
        self._keeps_unknown = issubclass(class_, ArchiveStruct)
        self._steps: tuple[Step, ...] = ()

    def prepare(self, steps: Iterable[Step]) -> None:
        self._steps = tuple(steps)

    def begun(self, value: Any) -> tuple[Any, Callable[[Any, Any, Graph], None]]:  # noqa: ARG002
        return self._begin(), self._fill

    def _begin(self) -> Any:
        made: Any = _new(self._class)
        if self._keeps_unknown:
            made.__mf_unknown__ = b""
        return made

    def _fill(self, value: Any, made: Any, graph: Graph) -> None:
        for to, attribute, convert, absent, name in self._steps:
            if absent is not None:
                setattr(made, to, absent())
            elif convert is None:
                setattr(made, to, getattr(value, attribute))
            else:
                try:
                    setattr(made, to, convert(getattr(value, attribute), graph))
                except LostError as lost:
                    raise lost.at(f".{name}") from None

    def __call__(self, value: Any, graph: Graph) -> Any:
        made = self._begin()
        graph.remember(value, self, made)
        self._fill(value, made, graph)
        return made


class _Flat(_Struct):
    """Of a struct that nothing refers to."""

    def __call__(self, value: Any, graph: Graph) -> Any:
        made = self._begin()
        self._fill(value, made, graph)
        return made


class _Union(_Object):
    def __init__(self, name: str, side: str, refers: bool) -> None:
        self.name = name
        self._cases: dict[type, tuple[type | None, Convert | None, str]] = {}
        self._refers = refers
        self._side = side

    def prepare(self, cases: dict[type, tuple[type | None, Convert | None, str]]) -> None:
        self._cases = cases

    def begun(self, value: Any) -> tuple[Any, Callable[[Any, Any, Graph], None]]:
        class_, _, name = self._cases[type(value)]
        if class_ is None:
            raise LostError(f"alternative {name} is not in the {self._side} schema")
        return _new(class_), self._fill

    def _fill(self, value: Any, made: Any, graph: Graph) -> None:
        _, convert, name = self._cases[type(value)]
        if convert is None:
            made.value = value.value
            return
        try:
            made.value = convert(value.value, graph)
        except LostError as lost:
            raise lost.at(f".{name}") from None

    def __call__(self, value: Any, graph: Graph) -> Any:
        made, _ = self.begun(value)
        if self._refers:
            graph.remember(value, self, made)
        self._fill(value, made, graph)
        return made


class Converter:
    """Makes the functions for one direction. `side`: whose schema the values go to, in words: `server's`.
    `own_is_f`: whether F is the consumer's, whose names stand in paths."""

    def __init__(self, f: Made, t: Made, side: str, *, own_is_f: bool) -> None:
        self._f = f
        self._t = t
        self._side = side
        self._own_is_f = own_is_f
        self._known: dict[Pair, Convert | None] = {}

    def convert(self, conversion: Conversion) -> Convert | None:
        how = conversion.how
        if how is How.KEEP:
            return None
        if how is How.NARROW:
            return self._narrow(conversion)
        if how is How.ENCODE:
            return lambda value, _: value.encode()
        if how is How.DECODE:
            return self._decode
        if how is How.PAIR:
            assert conversion.pair is not None
            return self._pair(conversion.pair)
        if how is How.REF:
            return self._ref(conversion)
        if how is How.MAP:
            return self._map(*(self.convert(each) for each in conversion.inner))
        (inner,) = (self.convert(each) for each in conversion.inner)
        if how is How.REQUIRE:
            return self._require(conversion, inner)
        if inner is None or how is How.PRESENT:
            return inner
        return self._within(how, inner)

    def _within(self, how: How, inner: Convert) -> Convert:
        if how is How.OPTIONAL:
            return lambda value, graph: None if value is None else inner(value, graph)
        if how is How.SET:
            return lambda value, graph: {inner(each, graph) for each in value}

        def listed(values: Any, graph: Graph) -> list[Any]:
            made: list[Any] = []
            try:
                for value in values:
                    made.append(inner(value, graph))
            except LostError as lost:
                raise lost.at(f"[{len(made)}]") from None
            return made

        return listed

    def _map(self, key: Convert | None, value: Convert | None) -> Convert | None:
        if key is None and value is None:
            return None

        def mapped(entries: Any, graph: Graph) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            place = 0
            try:
                for name in sorted(entries):
                    to = name if key is None else key(name, graph)
                    made[to] = entries[name] if value is None else value(entries[name], graph)
                    place += 1
            except LostError as lost:
                raise lost.at(f"[{place}]") from None
            return made

        return mapped

    def _narrow(self, conversion: Conversion) -> Convert:
        assert isinstance(conversion.type, Scalar)
        low, high = conversion.low, conversion.high
        words = f"{conversion.type.name} of the {self._side} schema"

        def narrow(value: Any, _: Graph) -> Any:
            if low <= value <= high:
                return value
            raise LostError(f"{value} does not fit {words}")

        return narrow

    def _decode(self, value: Any, _: Graph) -> str:
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise LostError(f"no UTF-8, which string of the {self._side} schema is") from None

    def _require(self, conversion: Conversion, inner: Convert | None) -> Convert:
        absent = None if conversion.absent is None else self._t.absent(conversion.absent)
        words = f"absent, and the {self._side} schema needs a value"

        def require(value: Any, graph: Graph) -> Any:
            if value is not None:
                return value if inner is None else inner(value, graph)
            if absent is None:
                raise LostError(words)
            return absent()

        return require

    def _ref(self, conversion: Conversion) -> Convert | None:
        assert conversion.pair is not None
        of: Any = self._pair(conversion.pair)
        return None if of is None else lambda value, graph: graph.meet(value, of)

    # Pairs

    def _pair(self, pair: Pair) -> Convert | None:
        if pair not in self._known:
            if pair.is_custom or self._is_shared(pair):
                self._known[pair] = None
            elif pair.f.base:
                self._known[pair] = self._numbers(pair)
            elif pair.f.kind == "union":
                self._known[pair] = self._union(pair)
            else:
                self._known[pair] = self._struct(pair)
        return self._known[pair]

    def _is_shared(self, pair: Pair) -> bool:
        f, t = self._f.shape(Named(pair.f.name)), self._t.shape(Named(pair.t.name))
        return f is t

    def _numbers(self, pair: Pair) -> Convert | None:
        if pair.verdict < Verdict.CHECKED and all(to == number for number, to in pair.numbers.items()):
            return None
        return (_flags if pair.f.kind == "flags" else _enum)(pair, self._side)

    def _struct(self, pair: Pair) -> Convert:
        shape = self._t.shape(Named(pair.t.name))
        assert isinstance(shape, s.Struct)
        refers = bool(shape.tables)
        own = pair.f if self._own_is_f else pair.t
        made = self._known[pair] = (_Struct if refers else _Flat)(shape.type, own.short)
        names = [each.name for each in own.fields]
        made.prepare(self.steps(pair.sources, names))
        return made

    def steps(self, sources: tuple[Source, ...], names: list[str]) -> Iterable[Step]:
        """`names`: of the consumer's fields."""
        for at, source in enumerate(sources):
            if source.conversion is None:
                assert source.absent is not None
                yield f"f{at}", "", None, self._t.absent(source.absent), ""
                continue
            name = names[source.index if self._own_is_f else at]
            yield f"f{at}", f"f{source.index}", self.convert(source.conversion), None, name

    def fields(self, sources: tuple[Source, ...], names: list[str], shape: s.Struct) -> Convert:
        """Of parameters or results."""
        made = _Flat(shape.type)
        made.prepare(self.steps(sources, names))
        return made

    def _union(self, pair: Pair) -> Convert:
        f, t = self._f.shape(Named(pair.f.name)), self._t.shape(Named(pair.t.name))
        assert isinstance(f, s.Union)
        assert isinstance(t, s.Union)
        own = pair.f if self._own_is_f else pair.t
        made = self._known[pair] = _Union(own.short, self._side, bool(t.tables))
        theirs = {each.number: each for each in t.alternatives}
        names = {each.number: each.name for each in own.fields}
        cases: dict[type, tuple[type | None, Convert | None, str]] = {}
        for each in f.alternatives:
            name = names.get(each.number, each.name)
            conversion = pair.cases.get(each.number)
            assert isinstance(each.type, type)
            if conversion is None:
                cases[each.type] = None, None, name
                continue
            to = theirs[each.number].type
            assert isinstance(to, type)
            cases[each.type] = to, self.convert(conversion), name
        made.prepare(cases)
        return made


def _enum(pair: Pair, side: str) -> Convert:
    numbers, names = pair.numbers, {number: name for name, number in pair.f.numbers.items()}
    words = f"is no member of {pair.t.short} in the {side} schema"
    low, high = _range(pair.t.base)
    keeps, lost, is_open = pair.keeps, pair.lost, pair.f.open
    of_t = frozenset(pair.t.numbers.values())

    def convert(number: Any, _: Graph) -> Any:
        to = numbers.get(number)
        if to is not None:
            return to
        nameless = number not in numbers and is_open and number not in lost
        if nameless and (number in of_t or (keeps and low <= number <= high)):
            return number
        name = names.get(number)
        raise LostError(f"{name} ({number}) {words}" if name else f"{number} {words}")

    return convert


def _range(scalar: str) -> tuple[int, int]:
    bits = int(scalar[1:])
    return (0, (1 << bits) - 1) if scalar[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _flags(pair: Pair, side: str) -> Convert:
    numbers, lost = pair.numbers, pair.lost
    most = int(pair.t.base[1:])
    words = f"is none of {pair.t.short} in the {side} schema"

    def convert(value: Any, _: Graph) -> Any:
        left, made, bit = int(value), 0, 0
        while left:
            if left & 1:
                to = numbers.get(bit, bit if bit not in lost and bit < most else None)
                if to is None:
                    raise LostError(f"bit {bit} {words}")
                made |= 1 << to
            left >>= 1
            bit += 1
        return made

    return convert
