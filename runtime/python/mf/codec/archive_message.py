"""R1. Functions that read messages of tier archive: all that protobuf allows, one field at a time.

    Message(shape, of).read(r)              the bytes up to `r.end` are the message
    Message(shape, of).read(r, target)      the same, into an object of a graph

A message is that of a struct or union, of an entry of a map (key 1, value 2), or the one around a container
or optional inside of another (value 1). What was found for each field number is kept until it ends.

A message in another may come in parts, which are one; what it lacks is known when the last of them has been
read. No writer of this tree does so, so a reader expects but one part, and raises InPartsError at a second.
It is then made again with `in_parts`, and looks ahead for all parts of a message before it reads the first.
"""

from collections.abc import Callable
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import is_message, is_wrapped, wire_of
from mf.codec.archive_run import Into, item_into, packed_into, uncharged, unpacked
from mf.codec.archive_tags import read_tag, skip, wrong_wire
from mf.codec.archive_value import Of, object_at, value_read
from mf.codec.archive_wire import BYTES, CLOSE_GROUP, behind, read_varint
from mf.codec.contents import bare, constrained
from mf.codec.failure import CodecError, InPartsError
from mf.codec.fault import Fault
from mf.codec.layout import rules_of
from mf.codec.limits import MAX_DEPTH
from mf.codec.malformed import MalformedError
from mf.codec.reader import Reader
from mf.codec.zeros import zero
from mf.core.archive_struct import ArchiveStruct

Composite = s.Struct | s.Union
Span = tuple[int, int]
_new: Final = object.__new__
_NONE: Final = object()
_EMPTY: Final[dict[int, Any]] = {}  # of what few messages have
_TAGS: Final = [
    (tag >> 3, tag & 7) if 8 <= tag < 128 and tag & 7 in (0, 1, 2, 3, 5) else None for tag in range(256)
]
"""Number and wire type of tags of one byte."""


class Open:
    """A message while it is read.

    `values`: by number; of repeated ones a list, of maps a list of (key, value, violation). `wrong`: where
    what was found for a number violates a constraint, if it is not superseded. `charged`: up to where
    unpacked numbers have been charged for.

    Of messages in parts: `inner`, those that are not whole yet; `spans`, where the parts of each are; `last`,
    where the last alternative of a union is, which alone counts.
    """

    __slots__ = ("any", "charged", "end", "inner", "last", "spans", "unknown", "values", "wrong")

    def __init__(self, end: int) -> None:
        self.values: dict[int, Any] = {}
        self.wrong: dict[int, int | None] = _EMPTY
        self.unknown: bytes | bytearray = b""
        self.any = False
        self.charged = 0
        self.end = end
        self.inner: dict[int, Open] = _EMPTY
        self.spans: dict[int, list[Span]] = _EMPTY
        self.last = 0


def _dict_of(entries: list[Any]) -> dict[Any, Any]:
    return {key: value for key, value, _ in entries}


class Place:
    """What a field number means. `name`: in paths.

    A value with the tag of `wire` is read by `read`, or by `into`, which also keeps it: one of the two is
    there. `take` reads whatever was found, and `finish(r, opened)` is what the field has when the message has
    come to its end.
    """

    def __init__(self, number: int, name: str, shape: s.Shape, of: Of, *, single: bool = False) -> None:
        self.number: Final = number
        self.name: Final = name
        self.attribute = name
        self.default: Callable[[], Any] | None = None
        plain = bare(shape)
        self.is_optional: Final = isinstance(plain, s.Optional)
        if isinstance(plain, s.Optional) and not single:
            shape, single = s.Checked(plain.element, tuple(rules_of(shape))), True
        self.plain: Final = bare(shape)
        self.rules: Final = rules_of(shape)
        self.is_constrained: Final = constrained(shape)
        self.repeats: Final = not single and isinstance(self.plain, s.List | s.Set | s.Array | s.Map)
        self.is_whole: Final = not (
            isinstance(self.plain, s.Set | s.Array | s.Map)
            if self.repeats and not self.rules
            else self.rules and is_wrapped(self.plain)
        )
        """Whether what is read is what the field has, if no other value follows."""
        self.wire = BYTES
        self.message: Message | None = None
        self.read: Callable[[Reader], Any] | None = None
        self.into: Into | None = None
        self._unpacked: Callable[[Reader, Any, int], None] | None = None
        self._wanted = BYTES
        if isinstance(self.plain, s.Map) and self.repeats:
            self.into = self._entry_into(self.plain, of)
        elif self.repeats:
            self._prepare_list(of)
        elif is_message(shape):
            self.message = message_of(self.plain, of)
            self.into = self._once
        else:
            self.wire, self.read = value_read(shape, of)
            self._wanted = self.wire
        self.finish = self._finish_repeated if self.repeats else self._finish_single

    def _prepare_list(self, of: Of) -> None:
        assert isinstance(self.plain, s.List | s.Set | s.Array)
        element = self.plain.element
        self._wanted = wire_of(element)
        if is_message(element):
            self.into = item_into(self.number, element, message_of(bare(element), of).read_sized)
        elif self._wanted == BYTES:
            self.into = item_into(self.number, element, value_read(element, of).read)
        else:
            self.into = packed_into(self.number, element, of)
            self._unpacked = unpacked(self.number, element, of)

    def _entry_into(self, shape: s.Map, of: Of) -> Into:
        number, entry = self.number, Entry(shape, of)
        memory = sizes.ENTRY + uncharged(shape.key) + uncharged(shape.value)
        key_tag = value_tag = -1
        read_key: Any = None
        read_value: Any = None

        def into(r: Reader, found: dict[int, Any]) -> None:
            nonlocal key_tag, value_tag, read_key, read_value
            if read_value is None:  # which is the last to be set
                (key_tag, read_key), (value_tag, read_value) = entry.parts
            r.depth += 1
            if r.depth > MAX_DEPTH:
                raise r.too_deep()
            entries = found.get(number)
            if entries is None:
                entries = found[number] = []
                r.budget -= sizes.FIRST_ENTRY
            before, r.violation = r.violation, None  # another entry of its key may follow
            have = 0
            try:
                r.budget -= memory
                if r.budget < 0:
                    raise r.over_budget()
                data, begin, outer = r.data, r.pos, r.end
                if begin < outer and (size := data[begin]) < 128 and begin + size < outer:
                    pos = begin + 1
                else:
                    size = r.padded_length()
                    pos = r.pos
                r.pos = pos
                r.end = end = pos + size
                if size and data[pos] == key_tag and not r.in_parts:
                    r.pos = pos + 1
                    key = read_key(r)
                    have = 1
                    if (pos := r.pos) < end and data[pos] == value_tag:
                        r.pos = pos + 1
                        value = read_value(r)
                        have = 2
                if have < 2 or r.pos < end:
                    known = {} if not have else {1: key} if have == 1 else {1: key, 2: value}
                    key, value = entry.read_entry(r, begin, known)
                r.end = outer
            except CodecError as failure:
                failure.in_item(len(entries))
                raise
            entries.append((key, value, r.violation))
            r.violation = before
            r.depth -= 1

        return into

    def _once(self, r: Reader, found: dict[int, Any]) -> None:
        if self.number in found:
            raise InPartsError
        assert self.message is not None
        found[self.number] = self.message.read_sized(r)

    @property
    def read_one(self) -> Callable[[Reader], Any]:
        """Of a place that has one value."""
        if self.read is None:
            assert self.message is not None
            return self.message.read_sized
        return self.read

    @property
    def convert(self) -> Callable[[list[Any]], Any] | None:
        """Makes what the field has of what was read, where nothing can be wrong with it."""
        if self.repeats and not self.is_constrained:
            if isinstance(self.plain, s.Map):
                return _dict_of
            if isinstance(self.plain, s.Set):
                return set
        return None

    @property
    def absent(self) -> Callable[[], Any] | None:
        """The value of a field that was not sent. None: it must be there, or be held to its rules."""
        if self.repeats:
            return None if self.rules else list
        return (lambda: None) if self.is_optional else self.default

    def take(self, r: Reader, opened: Open, wire: int, tag: int) -> None:
        if wire != self.wire:
            self._take_other(r, opened, wire, tag)
        elif self.read is not None:
            opened.values[self.number] = self.read(r)
        elif self.message is not None and r.in_parts:
            self._part(r, opened, self.message)
        else:
            assert self.into is not None
            self.into(r, opened.values)

    def _take_other(self, r: Reader, opened: Open, wire: int, tag: int) -> None:
        if self._unpacked is not None and wire == self._wanted:
            self._unpacked(r, opened, tag)
            return
        if not self.repeats:
            raise wrong_wire(r, wire, self._wanted, tag)
        r.enter()
        failure = wrong_wire(r, wire, self._wanted, tag)
        if isinstance(self.plain, s.Map):
            failure = r.fail(failure.fault, f"wire type {wire} where an entry of a map has 2", tag)
        failure.in_item(len(opened.values.get(self.number, ())))
        raise failure

    def _part(self, r: Reader, opened: Open, message: "Message") -> None:
        """A message, or a part of one; it is finished with the last one."""
        number = self.number
        behind_tag = r.pos
        size = r.padded_length()
        start, outer = r.pos, r.end
        spans = opened.spans.get(number, [])
        last = opened.last if opened.last >= 0 else spans[-1][0] if spans else 0
        inner = opened.inner.get(number)
        if inner is None:
            inner = opened.inner[number] = message.open(r, spans or [(start, start + size)])
        r.end = start + size
        message.read_part(r, inner)
        opened.values.pop(number, None)
        if (start if opened.last < 0 else behind_tag) >= last:
            opened.values[number] = message.finish(r, inner)
        r.pos, r.end = r.end, outer

    def _finish_single(self, r: Reader, opened: Open) -> Any:
        number = self.number
        if number in opened.values:
            return self.kept(r, opened, opened.values[number])
        if number in opened.inner:
            assert self.message is not None
            return self.kept(r, opened, self.message.finish(r, opened.inner[number]))
        if self.is_optional:
            return None
        return self._missing(r, opened)

    def kept(self, r: Reader, opened: Open, found: Any) -> Any:
        """What nothing supersedes any more. Scalars have been held against their rules where they stand."""
        if self.is_constrained:
            r.violate(opened.wrong.get(self.number))
            if self.rules and is_wrapped(self.plain):
                return r.check(self.rules, found, opened.end)
        return found

    def _finish_repeated(self, r: Reader, opened: Open) -> Any:
        found = opened.values.get(self.number)
        if not found and isinstance(self.plain, s.Array) and self.plain.length:
            return self._missing(r, opened)
        if self.is_constrained:
            r.violate(opened.wrong.get(self.number))
            return r.check(self.rules, self._container(r, found or [], opened.end), opened.end)
        return self._container(r, found or [], opened.end)

    def _missing(self, r: Reader, opened: Open) -> Any:
        if self.default is not None:
            return self.default()
        raise r.fail(Fault.MISSING_FIELD, "it is missing", opened.end)

    def _container(self, r: Reader, found: list[Any], end: int) -> Any:
        match self.plain:
            case s.Set():
                return set(found)
            case s.Map():
                if self.is_constrained:
                    for wrong in {key: wrong for key, _, wrong in found}.values():
                        r.violate(wrong)
                return _dict_of(found)
            case s.Array(length=length) if len(found) != length:
                reason = f"expected exactly {length} elements, got {len(found)}"
                raise r.fail(Fault.WRONG_LENGTH, reason, end)
            case _:
                return found


class Message:
    """Reads messages of one type."""

    is_union = False

    def __init__(self, shape: s.Shape, of: Of) -> None:
        self._shape = shape
        self._of = of

    @cached_property
    def _ordered(self) -> list[Place]:
        """Found when a message is read: types may hold each other."""
        return [Place(1, "", self._shape, self._of)]

    @cached_property
    def _places(self) -> dict[int, Place]:
        return {each.number: each for each in self._ordered}

    @cached_property
    def quick(self) -> "list[tuple[int, Callable[[Reader], Any] | None, Into | None] | None]":
        """By the first byte of a tag that has no more: the number, and what reads what follows."""
        found: list[tuple[int, Callable[[Reader], Any] | None, Into | None] | None] = [None] * 256
        for each in self._ordered:
            if each.number < 16:
                found[each.number << 3 | each.wire] = each.number, each.read, each.into
        return found

    def name_of(self, number: int) -> str:
        return self._places[number].name

    @cached_property
    def _parts_of(self) -> frozenset[int]:
        """The numbers of messages that may come in parts."""
        return frozenset(each.number for each in self._ordered if each.message is not None)

    def read(self, r: Reader, target: Any = None) -> Any:
        opened = self.open(r, [(r.pos, r.end)]) if r.in_parts else Open(r.end)
        self.read_part(r, opened)
        return self.finish(r, opened, target)

    def read_in_one(self) -> Callable[[Reader], Any]:
        """What reads a message that does not come in parts."""
        return self.read

    @cached_property
    def read_sized(self) -> Callable[[Reader], Any]:
        """Reads it behind its length."""
        read, read_in_one = self.read, self.read_in_one()

        def read_sized(r: Reader) -> Any:
            pos, outer = r.pos, r.end
            if pos < outer and (size := r.data[pos]) < 128 and pos + size < outer:
                r.pos = pos + 1
                r.end = pos + 1 + size
            else:
                size = r.padded_length()
                r.end = r.pos + size
            value = read(r) if r.in_parts else read_in_one(r)
            r.end = outer
            return value

        return read_sized

    def open(self, r: Reader, spans: list[Span]) -> Open:
        opened = Open(spans[-1][1] if spans else 0)
        opened.last = -1
        opened.inner, opened.spans = {}, {}
        if self._parts_of:
            self._look_ahead(r.data, opened, spans)
        return opened

    def _look_ahead(self, whole: bytes, opened: Open, spans: list[Span]) -> None:
        """Finds the messages within `whole`. Stops at a mistake, which the reader encounters again."""
        try:
            for start, end in spans:
                pos = start
                while pos < end:
                    tag, pos = read_varint(whole, pos)
                    if tag >> 3 in self._places:
                        self.see(opened, pos)
                    if tag & 7 != BYTES:
                        pos = behind(whole, pos, tag)
                        continue
                    size, pos = read_varint(whole, pos)
                    if size > end - pos:
                        return
                    if tag >> 3 in self._parts_of:
                        opened.spans.setdefault(tag >> 3, []).append((pos, pos + size))
                    pos += size
        except (MalformedError, IndexError):
            return

    def see(self, opened: Open, pos: int) -> None:
        """Called with the position behind each tag of a known number, in their order."""

    def read_part(self, r: Reader, opened: Open) -> None:
        self.read_places(r, opened)

    def read_places(self, r: Reader, opened: Open) -> None:
        places, data, end = self._places, r.data, r.end
        name = ""
        try:
            while (start := r.pos) < end:
                name = ""
                known = _TAGS[data[start]]
                if known is not None:
                    number, wire = known
                    r.pos = start + 1
                else:
                    number, wire = self._tag(r)
                opened.any = True
                place = places.get(number)
                if place is None:
                    self.unknown(r, opened, number, wire, start)
                    continue
                name = place.name
                if self.is_union:
                    self._choose(opened, number)
                if place.is_constrained:
                    self._take_constrained(r, opened, place, wire, start)
                else:
                    place.take(r, opened, wire, start)
        except CodecError as failure:
            failure.in_field(name)
            raise
        opened.any = opened.any or bool(opened.values)
        opened.end = r.pos

    def _tag(self, r: Reader) -> tuple[int, int]:
        start = r.pos
        number, wire = read_tag(r)
        if wire == CLOSE_GROUP:
            raise r.fail(Fault.MALFORMED_TAG, f"group {number} is closed, but not open", start)
        return number, wire

    def _take_constrained(self, r: Reader, opened: Open, place: Place, wire: int, start: int) -> None:
        outer, r.violation = r.violation, None
        place.take(r, opened, wire, start)
        number = place.number
        before = opened.wrong.get(number) if place.repeats else None
        found, r.violation = r.violation, outer
        if opened.wrong is _EMPTY:
            opened.wrong = {}
        opened.wrong[number] = found if before is None else before

    def _choose(self, opened: Open, number: int) -> None:
        """Of several alternatives the last one counts."""
        if number not in opened.values and number not in opened.inner:
            opened.values.clear()
            opened.inner.clear()
            opened.wrong.clear()

    def unknown(self, r: Reader, _opened: Open, number: int, wire: int, start: int) -> None:
        """A field of a number that means nothing here."""
        skip(r, number, wire, start)

    def finish(self, r: Reader, opened: Open, _target: Any = None) -> Any:
        """The value, when nothing of the message can follow."""
        return self._ordered[0].finish(r, opened)


class StructMessage(Message):
    def __init__(self, shape: s.Struct, of: Of) -> None:
        super().__init__(shape, of)
        self._struct = shape
        self._make: Any = shape.make
        self._memory = sizes.memory(shape)
        self._read_quickly = _quick_read(self, self._make, self._memory)

    def read_in_one(self) -> Callable[[Reader], Any]:
        return self._read_quickly

    @cached_property
    def _ordered(self) -> list[Place]:
        found = []
        for each in sorted(self._struct.fields, key=lambda field: field.number):
            place = Place(each.number, each.name, each.shape, self._of)
            place.attribute, place.default = each.attribute, each.default
            found.append(place)
        return found

    def read(self, r: Reader, target: Any = None) -> Any:
        if target is None and not r.in_parts:
            return self._read_quickly(r)
        opened = self.open(r, [(r.pos, r.end)]) if r.in_parts else Open(r.end)
        if target is not None:
            r.budget += self._memory  # which was charged when the object was made
        self.read_part(r, opened)
        return self.finish(r, opened, target)

    def read_part(self, r: Reader, opened: Open) -> None:
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= self._memory
        if r.budget < 0:
            raise r.over_budget()
        self.read_places(r, opened)
        r.depth -= 1

    def unknown(self, r: Reader, opened: Open, number: int, wire: int, start: int) -> None:
        skip(r, number, wire, start)
        r.charge(r.pos - start)
        if not opened.unknown:
            opened.unknown = bytearray()
        opened.unknown += r.data[start : r.pos]

    @cached_property
    def _finishing(self) -> list[tuple[int, str, Place]]:
        """The number of a place is 0 where what was found is not yet what the field has."""
        return [
            (each.number if each.is_whole and not each.is_constrained else 0, each.attribute, each)
            for each in self._ordered
        ]

    @cached_property
    def places(self) -> list[Place] | None:
        """Those of the fields in their order, if a value is made of what they have, and no more is to be
        done. None: some are to be finished, or the class is none that takes them and does no more."""
        found = [self._places[each.number] for each in self._struct.fields]
        if not found or not issubclass(self._struct.type, ArchiveStruct):
            return None
        return found if all(each.is_whole or each.convert for each in found) else None

    def finish(self, r: Reader, opened: Open, target: Any = None) -> Any:
        value = _new(self._struct.type) if target is None else target
        get = opened.values.get
        for number, attribute, place in self._finishing:
            found = get(number, _NONE)
            if found is _NONE:
                try:
                    found = place.finish(r, opened)
                except CodecError as failure:
                    failure.in_field(place.name)
                    raise
            setattr(value, attribute, found)
        unknown = opened.unknown
        if unknown:
            unknown = bytes(unknown)
            if r.reading is not None:
                r.charge(200)
                unknown = r.reading.kept(unknown)
        value.__mf_unknown__ = unknown
        return value


def _quick_read(message: StructMessage, make: Callable[..., Any], memory: int) -> Callable[[Reader], Any]:
    """Reads messages in one part, with tags of one byte, as writers make them. Where it finds anything else,
    the message goes on from there with what was found so far: nothing is read twice.

    A violated constraint counts also where another value follows that supersedes it: the codec reads again
    then, in parts.
    """
    quick: Any = None
    finish: Any = None

    def read(r: Reader) -> Any:
        nonlocal quick, finish
        if quick is None:
            finish = _quick_finish(message, make)
            quick = message.quick  # last, for other threads
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= memory
        if r.budget < 0:
            raise r.over_budget()
        data, end = r.data, r.end
        found: dict[int, Any] = {}
        number = 0
        try:
            while (pos := r.pos) < end:
                step = quick[data[pos]]
                if step is None:
                    break
                r.pos = pos + 1
                number, read_value, into = step
                if into is None:
                    found[number] = read_value(r)
                else:
                    into(r, found)
        except CodecError as failure:
            failure.in_field(message.name_of(number))
            raise
        return finish(r, found)

    return read


def _quick_finish(
    message: StructMessage, make: Callable[..., Any]
) -> Callable[[Reader, dict[int, Any]], Any]:
    """The value, of what was found up to the reader's position."""
    places = message.places
    numbers = [each.number for each in places or []]
    converts = [(each.number, each.convert) for each in places or [] if each.convert is not None]
    absent = [(each.number, each.absent) for each in places or [] if each.absent is not None]
    count = len(numbers) or -1
    all_of: Any = itemgetter(*numbers) if count > 1 else lambda found: (found[numbers[0]],)

    def finish(r: Reader, found: dict[int, Any]) -> Any:
        pos = r.pos
        if pos >= r.end:
            if len(found) < count:
                for number, default in absent:
                    if number not in found:
                        found[number] = default()
            if len(found) == count:
                for number, convert in converts:
                    found[number] = convert(found[number])
                r.depth -= 1
                return make(*all_of(found))
        opened = Open(pos)
        opened.values = found
        if pos < r.end:
            message.read_places(r, opened)
        r.depth -= 1
        return message.finish(r, opened)

    return finish


class UnionMessage(StructMessage):
    is_union = True

    def __init__(self, shape: s.Union, of: Of) -> None:
        Message.__init__(self, shape, of)
        self._union = shape
        self._memory = sizes.memory(shape)
        self._types = {each.number: each.type for each in shape.alternatives}
        self._read_quickly = self._read_one

    def _read_one(self, r: Reader) -> Any:
        """The same as of structs, of which one field is there."""
        r.enter()
        r.charge(self._memory)
        opened = Open(r.end)
        step = self.quick[r.data[r.pos]] if r.pos < r.end else None
        if step is not None:
            number, read_value, into = step
            r.pos += 1
            try:
                if read_value is not None:
                    opened.values[number] = read_value(r)
                elif into is not None:
                    into(r, opened.values)
            except CodecError as failure:
                failure.in_field(self.name_of(number))
                raise
            if r.pos == r.end and self._places[number].is_whole:
                r.depth -= 1
                return self._types[number](opened.values[number])
        self.read_places(r, opened)
        r.depth -= 1
        return self.finish(r, opened)

    @cached_property
    def _ordered(self) -> list[Place]:
        return [
            Place(each.number, each.name, each.shape, self._of, single=True)
            for each in self._union.alternatives
        ]

    def open(self, r: Reader, spans: list[Span]) -> Open:
        opened = super().open(r, spans)
        opened.last = max(opened.last, 0)
        return opened

    def see(self, opened: Open, pos: int) -> None:
        opened.last = pos

    def unknown(self, r: Reader, _opened: Open, number: int, wire: int, start: int) -> None:
        skip(r, number, wire, start)

    def finish(self, r: Reader, opened: Open, target: Any = None) -> Any:
        for each, place in zip(self._union.alternatives, self._ordered, strict=True):
            number = each.number
            if number not in opened.values and number not in opened.inner:
                continue
            try:
                if number in opened.values:
                    found = place.kept(r, opened, opened.values[number])
                    if target is not None:
                        target.value = found
                        return target
                    return each.type(found)
                # The last part was of another alternative, and did not count.
                assert place.message is not None
                return each.type(place.kept(r, opened, place.message.finish(r, opened.inner[number])))
            except CodecError as failure:
                failure.in_field(place.name)
                raise
        fault = Fault.UNKNOWN_ALTERNATIVE if opened.any else Fault.MISSING_FIELD
        raise r.fail(fault, f"no alternative of {self._union.name} is there", opened.end)


class Entry(Message):
    """Of a map: what is not there is zero, which constraints hold as well."""

    def __init__(self, shape: s.Map, of: Of) -> None:
        super().__init__(shape, of)
        self._map = shape

    @cached_property
    def _ordered(self) -> list[Place]:
        return [
            Place(1, "", self._map.key, self._of, single=True),
            Place(2, "", self._map.value, self._of, single=True),
        ]

    @cached_property
    def parts(self) -> list[tuple[int, Callable[[Reader], Any]]]:
        """The tags of key and value as writers put them, and what reads either; -1 is none, where a
        constraint is to be held when both are there."""
        return [
            (each.number << 3 | each.wire if each.is_whole else -1, each.read_one) for each in self._ordered
        ]

    def read_entry(self, r: Reader, begin: int, found: dict[int, Any]) -> tuple[Any, Any]:
        """`begin`: where the entry begins, for which memory may be too short; `found`: what was read."""
        opened = self.open(r, [(r.pos, r.end)]) if r.in_parts else Open(r.end)
        opened.values = found
        self.read_places(r, opened)
        key, value = self._ordered
        return self._there(r, opened, key, begin), self._there(r, opened, value, begin)

    def _there(self, r: Reader, opened: Open, place: Place, begin: int) -> Any:
        found = opened.values.get(place.number, _NONE)
        if found is not _NONE:
            return place.kept(r, opened, found) if place.is_constrained else found
        return r.check(place.rules, self._unsent(r, place, begin), r.pos)

    def _unsent(self, r: Reader, place: Place, begin: int) -> Any:
        shape = place.plain
        if isinstance(shape, s.Struct | s.Union | s.Custom):
            r.charge(sizes.memory(shape), begin)  # no bytes pay for it: its arrays may have many elements
        if place.message is not None:
            return place.message.finish(r, place.message.open(r, [(r.end, r.end)]))
        match shape:
            case s.Enum(values=values):
                if not shape.open and 0 not in values:
                    raise r.fail(Fault.UNKNOWN_ENUM_VALUE, f"0 is not a member of {shape.name}", r.pos)
                return values[0]
            case s.Ref(element=element):
                return object_at(r, element, 0, r.pos)
            case _:
                return zero(shape)


def message_of(shape: s.Shape, of: Of) -> Message:
    """Of a struct or union, where it is kept, or around a container or optional."""
    if isinstance(shape, s.Struct | s.Union):
        found: Message = of(shape).message
        return found
    return Message(shape, of)
