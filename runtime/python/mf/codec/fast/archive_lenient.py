"""R1. The statements that read an archive message as other writers may send it: fields in any order and more
than once, numbers packed or not, lists in pieces, entries of maps without a key or value.

The functions are those of ArchiveReading. A loop goes from tag to tag; what was found is kept in locals, and
becomes the value at the end of the message. Messages in parts, groups, tags that are longer than needed, and
references in the place of others stay with the careful reader.
"""

from collections.abc import Iterable

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import bare, is_message, is_wrapped, refers, wire_of
from mf.codec.archive_runs import runs_of
from mf.codec.archive_wire import BYTES, tag_of
from mf.codec.fast.archive_read import ArchiveReading
from mf.codec.fast.archive_value import Read, tag_bytes
from mf.codec.fast.unit import indented

_CHAIN = 4  # so many tags are compared one after the other; of more, one half is ruled out first

Branches = list[tuple[int, list[str]]]
"""What to do where this tag stands."""


class _Place:
    """A field, or what else has a number in a message: its local, which is None where nothing was found, or
    an empty container.
    """

    def __init__(self, number: int, shape: s.Shape, local: str) -> None:
        plain = bare(shape)
        self.number = number
        self.is_optional = isinstance(plain, s.Optional)
        self.shape = bare(plain.element) if isinstance(plain, s.Optional) else plain
        self.is_single = self.is_optional or not is_wrapped(plain)
        self.local = local

    @property
    def start(self) -> str:
        if self.is_single:
            return "None"
        return "{}" if isinstance(self.shape, s.Map) else "[]"

    @property
    def taken(self) -> str:
        """The value that was found."""
        match self.shape:
            case s.Set() if not self.is_single:
                return f"set({self.local})"
            case s.Array(length=length) if not self.is_single:
                return f"exactly({self.local}, {length})"
            case _:
                return self.local

    @property
    def can_lack(self) -> bool:
        """Whether its start is a value."""
        if isinstance(self.shape, s.Array) and not self.is_single:
            return self.shape.length == 0
        return self.is_optional or not self.is_single


class LenientReading(ArchiveReading):
    """The bodies of one type."""

    def struct(self, shape: s.Struct) -> list[str]:
        fields = sorted(shape.fields, key=lambda each: each.number)
        places = [_Place(each.number, each.shape, self.unit.local(each.attribute)) for each in fields]
        body = self._fields(places, "end", 1, "unknown")
        ends: list[str] = []
        for field, place in zip(fields, places, strict=True):
            value = place.taken
            if field.default is not None and not place.can_lack:
                missing = f"{place.local} is None" if place.is_single else f"not {place.local}"
                value = f"{self.default(field)} if {missing} else {value}"
            elif not place.can_lack:
                ends += self._needed(place)
            ends.append(f"value.{field.attribute} = {value}")
        return [
            *self.hoisted(),
            'unknown = b""',
            *body,
            *ends,
            "unknown = bytes(unknown)",
            "value.__mf_unknown__ = graph.kept(unknown) if unknown and graph else unknown",
        ]

    def wrapped(self, plain: s.Shape, name: str, level: int) -> Read:
        stop, local = self.unit.local("stop"), self.unit.local(name)
        place = _Place(1, plain, self.unit.local(name))
        return [
            *self.length(stop),
            *self._fields([place], stop, level, ""),
            *([] if place.can_lack else self._needed(place)),
            f"{local} = {place.taken}",
        ], local

    def map(self, shape: s.Map, tag: bytes, name: str, end: str, level: int) -> Read:
        local, stop = self.unit.local(name), self.unit.local("stop")
        key, item = self.unit.local("key"), self.unit.local("item")
        places: list[_Place] = [_Entry(1, shape.key, key), _Entry(2, shape.value, item)]
        memory = sizes.ENTRY + sizes.memory(shape.key) + sizes.memory(shape.value)
        body = [
            *self.unit.charged(f"{memory} if {local} else {memory + sizes.FIRST_ENTRY}"),
            *self.length(stop),
            *self._entry(places, stop, level + 1),
            *(line for each in places for line in self._zero(each)),
            *self._once(shape, f"{key} in {local}"),
            f"{local}[{key}] = {item}",
        ]
        return self.loop(local, "{}", tag, end, body), local

    def _once(self, shape: s.Map, again: str) -> list[str]:
        """Of entries that refer to others."""
        return [f"if {again}:", "    raise MalformedError"] if refers(shape.value) else []

    def _entry(self, places: list[_Place], stop: str, level: int) -> list[str]:
        """Once around, if the key stands in front of the value; nothing else is expected."""
        around = ["begin = pos"]
        for place in places:
            for tag, text in self._branches(place, stop, level):
                around += [f"if pos < {stop} and data[pos] == {tag}:", *indented(text)]
        return [
            *(f"{each.local} = {each.start}" for each in places),
            f"while pos < {stop}:",
            *indented([*around, "if pos == begin:", "    raise MalformedError"]),
            f"if pos != {stop}:",
            "    raise MalformedError",
        ]

    def _needed(self, place: _Place) -> list[str]:
        missing = f"{place.local} is None" if place.is_single else f"not {place.local}"
        return [f"if {missing}:", "    raise MalformedError"]

    def _zero(self, place: _Place) -> list[str]:
        """What is not in an entry of a map."""
        from mf.codec.careful_archive_finish import zero

        match place.shape:
            case s.Scalar():
                stands_for = f"{place.local} = {self.unit.constant('zero', zero(place.shape))}"
            case s.Enum(values=known):
                stands_for = f"{place.local} = {self.unit.constant('values', known)}[0]"
            case _:
                stands_for = "raise MalformedError"
        return [f"if {place.local} is None:", f"    {stands_for}"]

    def _fields(self, places: Iterable[_Place], end: str, level: int, unknown: str) -> list[str]:
        """From `pos` to `end`. `unknown`: the local that keeps unknown fields, or none."""
        known = list(places)
        branches = sorted(branch for each in known for branch in self._branches(each, end, level))
        numbers = self.unit.constant("known", frozenset(each.number for each in known))
        skipped = [
            "begin = pos",
            f"pos = skip_unknown(data, pos, {end}, {numbers})",
            "if pos == begin:",
            "    raise MalformedError",
        ]
        if unknown:
            skipped += [f"{unknown} = {unknown} or bytearray()", f"{unknown} += data[begin:pos]"]
        return [
            *(f"{each.local} = {each.start}" for each in known),
            f"while pos < {end}:",
            *indented(
                [
                    "tag = data[pos]",
                    "if tag > 127:",
                    "    tag = read_tag(data, pos)",
                    *_dispatch(branches),
                    *skipped,
                ]
            ),
            f"if pos != {end}:",
            "    raise MalformedError",
        ]

    def _branches(self, place: _Place, end: str, level: int) -> Branches:
        local, shape, number = place.local, place.shape, place.number
        if place.is_single:
            tag = tag_of(number, wire_of(shape))
            text, value = self.single(shape, "found", end, level)
            is_last = is_message(shape) or isinstance(shape, s.Ref)
            again = [f"if {local} is not None:", "    raise MalformedError"] if is_last else []
            charged = self.unit.charged(str(sizes.memory(shape))) if place.is_optional else []
            return [(_number(tag), [*again, *charged, f"pos += {len(tag)}", *text, f"{local} = {value}"])]
        tag = tag_bytes(number, shape)
        if isinstance(shape, s.Map):
            text, value = self.map(shape, tag, "found", end, level)
            again = self._once(shape, f"not {local}.keys().isdisjoint({value})")
            return [(_number(tag), [*text, *again, f"{local}.update({value})"])]
        assert isinstance(shape, s.List | s.Set | s.Array)
        text, value = self.elements(shape.element, tag, "found", end, level)
        branches = [(_number(tag), [*text, *self._more(place, value)])]
        element = bare(shape.element)
        if wire_of(element) != BYTES:
            loose = tag_of(number, wire_of(element))
            text, value = self._unpacked(element, number, end)
            branches.append((_number(loose), [*text, *self._more(place, value)]))
        return branches

    def _more(self, place: _Place, values: str) -> list[str]:
        """Of a list, set or array."""
        charged = self.unit.charged(f"len(more) * {sizes.ENTRY}") if isinstance(place.shape, s.Set) else []
        empty = ["if not more:", "    raise MalformedError"] if isinstance(place.shape, s.Array) else []
        return [f"more = {values}", *charged, *empty, f"{place.local} += more"]

    def _unpacked(self, element: s.Shape, number: int, end: str) -> Read:
        """Those that follow each other with this tag become packed ones, a piece of the run at a time: what
        is made before it is charged for is never more than one piece.
        """
        runs = runs_of(number, wire_of(element))
        stop_of, parts = self.unit.constant("stop_of", runs.stop), self.unit.constant("parts", runs.parts)
        text, value = self.numbers(element, "found")
        return [
            f"stop = {stop_of}(data, pos, {end})",
            "if stop == pos:",
            "    raise MalformedError",
            f'piece = b"".join({parts}(data, pos, stop))',
            *text,
            "pos = stop",
        ], value


class _Entry(_Place):
    """The key or value of a map's entry, where containers stand in a message of their own."""

    def __init__(self, number: int, shape: s.Shape, local: str) -> None:
        super().__init__(number, shape, local)
        self.shape = bare(shape)
        self.is_single = True
        self.is_optional = False


def _number(tag: bytes) -> int:
    return sum((byte & 127) << 7 * at for at, byte in enumerate(tag))


def _dispatch(branches: Branches) -> list[str]:
    """Falls through if it is none of these tags."""
    if len(branches) > _CHAIN:
        half = len(branches) // 2
        return [
            f"if tag < {branches[half][0]}:",
            *indented(_dispatch(branches[:half])),
            "else:",
            *indented(_dispatch(branches[half:])),
        ]
    return [line for tag, text in branches for line in (f"if tag == {tag}:", *indented([*text, "continue"]))]
