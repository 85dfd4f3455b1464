"""R1. The bytes of one part of a method (its parameters, its results, the values of a stream, an error) from
one schema to another.
"""

from collections.abc import Sequence
from typing import Any

from mf.adapt.made import Made
from mf.adapt.values import Convert, Converter, Graph, LostError
from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.coding import coding_of
from mf.codec.limits import DEFAULT_LIMITS
from mf.core.service import FEBIRD, MEMCPY
from mf.evolution.plan import Part
from mf.evolution.rules import Pair, Verdict, equal_ones
from mf.evolution.schema import Fields
from mf.evolution.types import Named

Buffer = bytes | bytearray | memoryview


class Transcoder:
    """`f_encoding` and `t_encoding`: of frames that hold its values. `where`: a prefix of what is wrong
    with bytes. Where both sides write the same bytes, these are not looked at. `left_out`: fields of F, as
    `Hit.title`, that T lacks; for callers that ask for them."""

    __slots__ = ("_convert", "_read", "_where", "_write", "f_encoding", "is_equal", "left_out", "t_encoding")

    def __init__(
        self, f: s.Composite, t: s.Composite, convert: Convert | None, where: str, *, is_equal: bool
    ) -> None:
        self.is_equal = is_equal
        self.f_encoding, self.t_encoding = encoding_of(f), encoding_of(t)
        self.left_out: tuple[str, ...] = ()
        self._where = where
        self._convert = convert
        self._read: Codec[Any, Any] = Codec(f, where=where, limits=DEFAULT_LIMITS)
        self._write: Codec[Any, Any] = Codec(t, where=where, limits=DEFAULT_LIMITS)

    def prepare(self) -> None:
        """Makes the functions that read and write; to be called within `building`."""
        if not self.is_equal:
            coding_of(self._read.shape)
            coding_of(self._write.shape)

    def one(self, data: Buffer) -> Buffer:
        """Raises LostError where the value cannot go over, and Error for bytes that are no value."""
        if self.is_equal:
            return data
        return self._write.encode(self._over(self._read.decode(data)))

    def all(self, data: Buffer, count: int) -> Buffer:
        """Of several values, one behind the other."""
        made, _, lost = self.until_lost(data, count)
        if lost is not None:
            raise lost
        return made

    def until_lost(self, data: Buffer, count: int) -> tuple[Buffer, int, LostError | None]:
        """Of several values, those before the first that cannot go over: their bytes, their number, and why
        that one cannot."""
        if self.is_equal:
            return data, count, None
        made: list[Any] = []
        failure: LostError | None = None
        for value in self._read.decode_all(data, count):
            try:
                made.append(self._over(value))
            except LostError as lost:
                failure = lost
                lost.item = len(made) if count > 1 else -1
                break
        return self._written(made) if made else b"", len(made), failure

    def lost(self, data: Buffer, count: int) -> dict[int, LostError]:
        """Those of several values that cannot go over, by their places."""
        found: dict[int, LostError] = {}
        for at, value in enumerate(self._read.decode_all(data, count)):
            try:
                self._over(value)
            except LostError as lost:
                found[at] = lost
        return found

    def each_at(self, data: Buffer, at: int, count: int) -> "tuple[list[Any | LostError], int]":
        """`count` values from `at` on, of T, each with a fate of its own, and the position behind them."""
        values, end = self._read.decode_at(data, at, count)
        made: list[Any] = []
        for value in values:
            try:
                made.append(self._over(value))
            except LostError as lost:
                made.append(lost)
        return made, end

    def written(self, values: Sequence[Any]) -> Buffer:
        """Values that `each_at` has made."""
        return self._written(values)

    def _written(self, values: Sequence[Any]) -> Buffer:
        return self._write.encode(values[0]) if len(values) == 1 else self._write.encode_all(values)

    def _over(self, value: Any) -> Any:
        if self._convert is None:
            return value
        graph = Graph()
        made = self._convert(value, graph)
        graph.finish()
        return made


def encoding_of(shape: s.Composite) -> int:
    return MEMCPY if isinstance(shape, s.Struct) and shape.memcpy else FEBIRD


class Transcoders:
    """Makes those of one plan for one direction. `where`: a prefix of all their words."""

    def __init__(self, f: Made, t: Made, side: str, *, own_is_f: bool) -> None:
        self._f = f
        self._t = t
        self._own_is_f = own_is_f
        self._converter = Converter(f, t, side, own_is_f=own_is_f)

    def fields(self, part: Part, where: str) -> Transcoder:
        assert isinstance(part.f, Fields)
        assert isinstance(part.t, Fields)
        f, t = self._f.fields(where, part.f), self._t.fields(where, part.t)
        own = part.f if self._own_is_f else part.t
        convert = self._converter.fields(part.sources, [each.name for each in own.fields], t)
        return Transcoder(f, t, convert, where, is_equal=part.verdict is Verdict.EQUAL)

    def element(self, part: Part, where: str) -> Transcoder:
        """Of a stream."""
        assert part.conversion is not None
        f, t = self._f.element(where, part.f), self._t.element(where, part.t)  # type: ignore[arg-type]
        inner = self._converter.convert(part.conversion)
        return Transcoder(f, t, _in_struct(inner, t), where, is_equal=part.verdict is Verdict.EQUAL)

    def alone(self, part: Part, where: str) -> Transcoder:
        """Of an error, or of a topic's value."""
        assert part.conversion is not None
        f, t = self._f.alone(where, part.f), self._t.alone(where, part.t)  # type: ignore[arg-type]
        inner = self._converter.convert(part.conversion)
        if isinstance(t, s.Struct) and t.implicit:
            inner = _in_struct(inner, t)
        return Transcoder(f, t, inner, where, is_equal=part.verdict is Verdict.EQUAL)


def _in_struct(inner: Convert | None, shape: s.Struct) -> Convert:
    """Of a value that is the only field of a struct."""
    make = shape.make

    def convert(value: Any, graph: Graph) -> Any:
        return make(value.f0 if inner is None else inner(value.f0, graph))

    return convert


def left_out(pairs: "Sequence[Pair]") -> tuple[str, ...]:
    """The fields of F's structs that become nothing of T."""
    found: list[str] = []
    for pair in pairs:
        if pair.sources or pair.f.kind in ("struct", "error"):
            used = {each.index for each in pair.sources if each.conversion is not None}
            names = [each.name for at, each in enumerate(pair.f.fields) if at not in used]
            found += [f"{pair.f.short}.{name}" for name in names]
    return tuple(found)


def shared(pairs: "Sequence[Pair]", f: Made) -> dict[str, s.Shape]:
    """The shapes of F that T may use as well: of types that are the same on both sides, with all that they
    hold. By the names that T has for them."""
    found: dict[str, s.Shape] = {}
    for pair in equal_ones(pairs):
        if not pair.is_custom:
            found.setdefault(pair.t.name, f.shape(Named(pair.f.name)))
    return found
