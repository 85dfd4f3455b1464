"""R1. Functions that read messages of tier archive: all that protobuf allows, one field at a time.

    Message(shape, of).read(r)              the bytes up to `r.end` are the message
    Message(shape, of).read(r, target)      the same, into an object of a graph

A message is that of a struct or union, of an entry of a map (key 1, value 2), or the one around a container
or optional inside of another (value 1). What was found for each field number is kept until it ends.

A message in another may come in parts, which are one; what it lacks is known when the last of them has been
read, and a constraint is held against the last of several values only. No writer of this tree does so, so a
reader expects but one part, and raises InPartsError at a second. The codec reads again then, and wherever
anything else is wrong, with a reader that is `in_parts`: it looks ahead at all fields of a message before it
reads the first.
"""

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, NoReturn

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import is_message, is_wrapped, wire_of
from mf.codec.archive_values import (
    More,
    object_at,
    packed_read,
    repeated_read,
    short_tag,
    uncharged,
    unpacked_read,
    value_read,
)
from mf.codec.archive_wire import BYTES, CLOSE_GROUP, Span, read_tag, skip
from mf.codec.composed import Of, Read, sized_read
from mf.codec.contents import bare
from mf.codec.failure import CodecError, InPartsError
from mf.codec.fault import Fault
from mf.codec.layout import rules_of
from mf.codec.limits import MAX_DEPTH, U64_MAX
from mf.codec.reader import Reader
from mf.codec.zeros import zero

_NONE: Final[Any] = object()


class Ahead:
    """What comes in a message, as far as it is sound: where the parts of each message in it are, and behind
    which tag the last value of each field is, by number; in a union, behind that of the last alternative.
    """

    def __init__(self, message: "Message", data: bytes, spans: list[Span]) -> None:
        self.spans: Final[dict[int, list[Span]]] = {}
        self.last: Final[dict[int, int]] = {}
        self.inner: Final[dict[int, Ahead]] = {}
        r = Reader(data, 0)
        try:
            for r.pos, r.end in spans:
                while r.pos < r.end:
                    self._see(r, message)
        except (CodecError, KeyError):  # of a wire type that is none
            pass  # found again when it is read

    def _see(self, r: Reader, message: "Message") -> None:
        tag = r.unsigned(U64_MAX, shortest=False)
        number, wire, at = tag >> 3, tag & 7, r.pos
        field = message.by_number.get(number)
        if field is not None and message.is_union:
            self.last[0] = at
        if field is not None and field.message is not None and wire == BYTES:
            size = r.padded_length()
            self.spans.setdefault(number, []).append((r.pos, r.pos + size))
            r.pos += size
        else:
            skip(r, number, wire, at)
        if field is not None and wire == field.wire:
            self.last[number] = at


class Found(dict[int, Any]):
    """What a message holds, by number: of a set or array a list of its elements, and of a message that lacks
    a part what was found in it so far. `ahead` is there where messages may come in parts.
    """

    ahead: Ahead | None = None
    has_others = False  # fields that mean nothing here
    unknown: bytes | bytearray = b""
    violation: int | None = None  # of a message that lacks a part


class Entries(dict[Any, Any]):
    """Of a map where messages may come in parts: a constraint is held against the last entry of a key."""

    def __init__(self) -> None:
        self.count = 0
        self.violations: Final[dict[Any, int]] = {}

    def add(self, key: Any, value: Any, violation: int | None) -> None:
        self[key] = value
        self.count += 1
        self.violations.pop(key, None)
        if violation is not None:
            self.violations[key] = violation


class Field:
    """What a field number means. `name`: in paths. `absent`: what it is if it was not sent; None: an error.

    `read` reads what is behind a tag of `wire`. Of what repeats it takes what was found so far, as
    `read_unpacked` does, which reads numbers of `unpacked_wire`.
    """

    def __init__(
        self,
        number: int,
        name: str,
        shape: s.Shape,
        of: Of,
        absent: Callable[[], Any] | None = None,
        *,
        single: bool = False,
    ) -> None:
        self.number: Final = number
        self.name: Final = name
        self._absent = absent
        optional = bare(shape)
        if isinstance(optional, s.Optional) and not single:
            rules = tuple(rules_of(shape))
            shape, single = (s.Checked(optional.element, rules) if rules else optional.element), True
            self._absent = lambda: None
        self.plain: Final = bare(shape)
        self.rules: Final = rules_of(shape)
        self.repeats: Final = not single and is_wrapped(shape)
        self.is_whole: Final = not (
            is_wrapped(shape) if self.rules else self.repeats and not isinstance(self.plain, s.List | s.Map)
        )
        """Whether what was read is what the field has."""
        self.message: Message | None = None
        self.wire = BYTES
        self.unpacked_wire = -1
        self.read_unpacked: More | None = None
        self.read: Final = self._repeated(of) if self.repeats else self._single(shape, of)

    def _single(self, shape: s.Shape, of: Of) -> More:
        if is_message(shape):
            self.message = message_of(self.plain, of)
            return self.message.read_sized
        self.wire = wire_of(shape)
        return value_read(shape, of)

    def _repeated(self, of: Of) -> More:
        number = self.number
        if isinstance(self.plain, s.Map):
            return entries_read(number, self.plain, of)
        assert isinstance(self.plain, s.List | s.Set | s.Array)
        element = self.plain.element
        wire = wire_of(element)
        if wire == BYTES:
            return repeated_read(number, element, _element_read(element, of))
        self.unpacked_wire, self.read_unpacked = wire, unpacked_read(number, element, of)
        return packed_read(element, of)

    def refuse(self, r: Reader, found: Found, wire: int, start: int) -> NoReturn:
        """A value of another wire type."""
        wanted = self.wire if self.unpacked_wire < 0 else self.unpacked_wire
        reason = f"wire type {wire} where {wanted} is expected"
        if not self.repeats:
            raise r.fail(Fault.WRONG_WIRE_TYPE, reason, start)
        r.enter()
        if isinstance(self.plain, s.Map):
            reason = f"wire type {wire} where an entry of a map has 2"
        failure = r.fail(Fault.WRONG_WIRE_TYPE, reason, start)
        before = found.get(self.number, ())
        failure.in_item(before.count if isinstance(before, Entries) else len(before))
        raise failure

    def finish(self, r: Reader, found: Any) -> Any:
        """What the field has of what was found, which may be `_NONE`, when its message is at its end."""
        value = self._container(r, found) if self.repeats else found
        if value is not _NONE:
            return r.check(self.rules, value, r.pos) if self.rules and is_wrapped(self.plain) else value
        if self._absent is None:
            raise r.fail(Fault.MISSING_FIELD, "it is missing")
        return self._absent()

    def _container(self, r: Reader, found: Any) -> Any:
        match self.plain:
            case s.Set():
                return set() if found is _NONE else set(found)
            case s.Map():
                if isinstance(found, Entries):
                    for violation in found.violations.values():
                        r.violate(violation)
                return {} if found is _NONE else dict(found)
            case s.Array(length=length):
                elements: list[Any] = [] if found is _NONE else found
                if elements and len(elements) != length:
                    reason = f"expected exactly {length} elements, got {len(elements)}"
                    raise r.fail(Fault.WRONG_LENGTH, reason)
                return elements if len(elements) == length else _NONE
            case _:
                return [] if found is _NONE else found


class Message:
    """Reads messages of one type; this class, those around a container or optional."""

    is_union = False
    _level = 0  # of depth
    _memory = 0  # of the value, without what its fields hold

    def __init__(self, shape: s.Shape, of: Of) -> None:
        self._shape = shape
        self._of = of
        self.read_sized: Final = sized_read(self.read, Reader.padded_length)
        """Reads it behind its length."""

    @cached_property
    def fields(self) -> list[Field]:
        """In the order of their numbers. Found when a message is read: types may hold each other."""
        return [Field(1, "", self._shape, self._of)]

    @cached_property
    def by_number(self) -> dict[int, Field]:
        return {each.number: each for each in self.fields}

    def read(self, r: Reader, target: Any = None) -> Any:
        found = Found()
        if r.in_parts:
            found.ahead = Ahead(self, r.data, [(r.pos, r.end)])
        self.read_part(r, found)
        return self.finish(r, found, target)

    def read_part(self, r: Reader, found: Found) -> None:
        """All up to `r.end`, and then perhaps another part."""
        if self._level:
            r.enter()
            r.charge(self._memory)
        self.read_rest(r, found)
        r.depth -= self._level

    def read_rest(self, r: Reader, found: Found) -> None:
        name = ""
        try:
            while (start := r.pos) < r.end:
                name = ""
                number, wire = read_tag(r)
                field = self.by_number.get(number)
                if field is None or wire == CLOSE_GROUP:
                    self._unknown(r, found, number, wire, start)
                else:
                    name = field.name
                    self._take(r, found, field, wire, start)
        except CodecError as failure:
            failure.in_field(name)
            raise

    def _unknown(self, r: Reader, found: Found, number: int, wire: int, start: int) -> None:
        """A field of a number that means nothing here."""
        found.has_others = True
        skip(r, number, wire, start)

    def _take(self, r: Reader, found: Found, field: Field, wire: int, start: int) -> None:
        """A value, with the tag of which begins at `start`."""
        number = field.number
        if wire == field.unpacked_wire and field.read_unpacked is not None:
            found[number] = field.read_unpacked(r, found.get(number), start)
        elif wire != field.wire:
            field.refuse(r, found, wire, start)
        elif field.repeats:
            found[number] = field.read(r, found.get(number))
        elif found.ahead is not None:
            self._take_last(r, found, field, found.ahead)
        elif field.message is not None and number in found:
            raise InPartsError
        else:
            found[number] = field.read(r)

    def _take_last(self, r: Reader, found: Found, field: Field, ahead: Ahead) -> None:
        """A value, of several for one number perhaps, or a part of one. Only the last one is held to its
        constraints, and a message is finished with its last part.
        """
        number = field.number
        is_last = r.pos >= ahead.last.get(0 if self.is_union else number, 0)
        before, r.violation = r.violation, None
        if field.message is None:
            found[number] = field.read(r)
        else:
            part = found.get(number)
            if not isinstance(part, Found):
                part = Found()
                part.ahead = ahead.inner.get(number)
            if part.ahead is None:
                part.ahead = Ahead(field.message, r.data, ahead.spans.get(number, []))
                ahead.inner[number] = part.ahead
            r.violation = part.violation
            size = r.padded_length()
            outer, r.end = r.end, r.pos + size
            field.message.read_part(r, part)
            found[number] = field.message.finish(r, part) if is_last else part
            r.end, part.violation = outer, r.violation
        violation, r.violation = r.violation, before
        if is_last:
            r.violate(violation)

    def finish(self, r: Reader, found: Found, _target: Any = None) -> Any:
        """The value, when nothing of the message can follow."""
        return self.fields[0].finish(r, found.get(1, _NONE))


class StructMessage(Message):
    def __init__(self, shape: s.Struct, of: Of) -> None:
        super().__init__(shape, of)
        self._struct = shape
        self._level, self._memory = 1, sizes.memory(shape)

    @cached_property
    def _numbered(self) -> list[s.Field]:
        return sorted(self._struct.fields, key=attrgetter("number"))

    @cached_property
    def fields(self) -> list[Field]:
        return [Field(each.number, each.name, each.shape, self._of, each.default) for each in self._numbered]

    @cached_property
    def _usual(self) -> list[tuple[int, Read]]:
        """The tags that fields have where a writer sends them, and what reads these; -1 is a longer one."""
        return [(each.number << 3 | each.wire if each.number < 16 else -1, each.read) for each in self.fields]

    @cached_property
    def _is_whole(self) -> bool:
        """Whether what was read of all fields is what these have."""
        return all(each.is_whole for each in self.fields)

    @cached_property
    def _make(self) -> Callable[[list[Any]], Any]:
        """Makes a value of its fields by number."""
        make = self._struct.make
        places = {each.number: at for at, each in enumerate(self._numbered)}
        order = [places[each.number] for each in self._struct.fields]
        if order == sorted(order):
            return lambda values: make(*values)
        return lambda values: make(*map(values.__getitem__, order))

    def read(self, r: Reader, target: Any = None) -> Any:
        """Quickly what a writer of this tree sends, fields by their numbers; anything else goes on from where
        it was met, so that nothing is read twice.
        """
        if r.in_parts or target is not None:
            return super().read(r, target)
        r.depth += 1
        if r.depth > MAX_DEPTH:
            raise r.too_deep()
        r.budget -= self._memory
        if r.budget < 0:
            raise r.over_budget()
        data, pos, end = r.data, r.pos, r.end
        values: list[Any] = []
        append = values.append
        is_whole = self._is_whole
        for tag, read in self._usual:
            if pos < end and data[pos] == tag:
                r.pos = pos + 1
                append(read(r))
                pos = r.pos
            else:
                append(_NONE)
                is_whole = False
        if pos < end:
            given = zip(self.fields, values, strict=True)
            found = Found((field.number, value) for field, value in given if value is not _NONE)
            self.read_rest(r, found)
            r.depth -= 1
            return self.finish(r, found)
        r.depth -= 1
        if not is_whole:
            self._complete(r, values)
        return self._make(values)

    def _unknown(self, r: Reader, found: Found, number: int, wire: int, start: int) -> None:
        skip(r, number, wire, start)
        r.charge(r.pos - start)
        if not found.unknown:
            found.unknown = bytearray()
        found.unknown += r.data[start : r.pos]

    def _complete(self, r: Reader, values: list[Any]) -> None:
        """Makes what the fields have of what was found, `_NONE` of those that were not sent."""
        for at, field in enumerate(self.fields):
            value = values[at]
            if value is _NONE or not field.is_whole or isinstance(value, Entries):
                try:
                    values[at] = field.finish(r, value)
                except CodecError as failure:
                    failure.in_field(field.name)
                    raise

    def finish(self, r: Reader, found: Found, target: Any = None) -> Any:
        values = [found.get(each.number, _NONE) for each in self.fields]
        self._complete(r, values)
        value = self._make(values) if target is None else target
        if target is not None:
            for each, part in zip(self._numbered, values, strict=True):
                setattr(target, each.attribute, part)
        unknown = bytes(found.unknown)
        if unknown and r.reading is not None:
            r.charge(200)
            unknown = r.reading.kept(unknown)
        value.__mf_unknown__ = unknown
        return value


class UnionMessage(Message):
    is_union = True

    def __init__(self, shape: s.Union, of: Of) -> None:
        super().__init__(shape, of)
        self._union = shape
        self._level, self._memory = 1, sizes.memory(shape)

    @cached_property
    def fields(self) -> list[Field]:
        return [
            Field(each.number, each.name, each.shape, self._of, single=True)
            for each in self._union.alternatives
        ]

    @cached_property
    def _types(self) -> dict[int, Callable[[Any], Any]]:
        return {each.number: each.type for each in self._union.alternatives}

    def _take(self, r: Reader, found: Found, field: Field, wire: int, start: int) -> None:
        """Of several alternatives the last one counts."""
        if field.number not in found:
            found.clear()
        super()._take(r, found, field, wire, start)

    def finish(self, r: Reader, found: Found, target: Any = None) -> Any:
        for number, value in found.items():
            field = self.by_number[number]
            try:
                value = field.finish(r, value)
            except CodecError as failure:
                failure.in_field(field.name)
                raise
            if target is None:
                return self._types[number](value)
            target.value = value
            return target
        fault = Fault.UNKNOWN_ALTERNATIVE if found.has_others else Fault.MISSING_FIELD
        raise r.fail(fault, f"no alternative of {self._union.name} is there")


class Entry(Message):
    """Of a map: what is not there is zero, which constraints hold as well."""

    def __init__(self, shape: s.Map, of: Of) -> None:
        super().__init__(shape, of)
        self._map = shape

    @cached_property
    def fields(self) -> list[Field]:
        return [
            Field(1, "", self._map.key, self._of, single=True),
            Field(2, "", self._map.value, self._of, single=True),
        ]

    @cached_property
    def read_usual(self) -> Callable[[Reader, dict[Any, Any]], None]:
        """Reads an entry, and quickly one that has a key, a value and no more."""
        key_tag, value_tag = (each.number << 3 | each.wire if each.is_whole else -1 for each in self.fields)
        read_key, read_value = (each.read for each in self.fields)

        def read(r: Reader, entries: dict[Any, Any]) -> None:
            data, begin, outer = r.data, r.pos, r.end
            if begin < outer and (size := data[begin]) < 128 and begin + size < outer:
                r.pos = pos = begin + 1
            else:
                size = r.padded_length()
                pos = r.pos
            r.end = end = pos + size
            found = None
            if size and data[pos] == key_tag:
                r.pos = pos + 1
                key = read_key(r)
                pos = r.pos
                if pos < end and data[pos] == value_tag:
                    r.pos = pos + 1
                    value = read_value(r)
                    if r.pos == end:
                        entries[key] = value
                        r.end = outer
                        return
                    found = Found({1: key, 2: value})
                else:
                    found = Found({1: key})
            key, value = self._read_other(r, Found() if found is None else found, begin)
            entries[key] = value
            r.end = outer

        return read

    def read_in_parts(self, r: Reader, entries: Entries) -> None:
        """A violated constraint counts if no other entry of the same key follows."""
        before, r.violation = r.violation, None
        begin = r.pos
        size = r.padded_length()
        outer, r.end = r.end, r.pos + size
        found = Found()
        found.ahead = Ahead(self, r.data, [(r.pos, r.end)])
        key, value = self._read_other(r, found, begin)
        entries.add(key, value, r.violation)
        r.end, r.violation = outer, before

    def _read_other(self, r: Reader, found: Found, begin: int) -> tuple[Any, Any]:
        """Key and value of an entry, which begins at `begin`: what follows what was found of it."""
        self.read_rest(r, found)
        for field in self.fields:
            number = field.number
            if number not in found:
                found[number] = r.check(field.rules, self._unsent(r, field, begin), r.pos)
            elif not field.is_whole:
                found[number] = field.finish(r, found[number])
        return found[1], found[2]

    def _unsent(self, r: Reader, field: Field, begin: int) -> Any:
        shape = field.plain
        if isinstance(shape, s.Struct | s.Union | s.Custom):
            r.charge(sizes.memory(shape), begin)  # no bytes pay for it: its arrays may have many elements
        if field.message is not None:
            return field.message.finish(r, Found())
        match shape:
            case s.Enum(values=values):
                if not shape.open and 0 not in values:
                    raise r.fail(Fault.UNKNOWN_ENUM_VALUE, f"0 is not a member of {shape.name}")
                return values[0]
            case s.Ref(element=s.Struct() | s.Union() as element):
                return object_at(r, element, 0, r.pos)
            case _:
                return zero(shape)


def entries_read(number: int, shape: s.Map, of: Of) -> More:
    """What reads the entries of a map, as mf.codec.archive_values reads elements."""
    entry, next_tag = Entry(shape, of), short_tag(number)
    memory = sizes.ENTRY + uncharged(shape.key) + uncharged(shape.value)

    def more(r: Reader, entries: Any = None) -> dict[Any, Any]:
        r.enter()
        if entries is None:
            entries = Entries() if r.in_parts else {}
            r.budget -= sizes.FIRST_ENTRY
        read = entry.read_in_parts if r.in_parts else entry.read_usual
        try:
            while True:
                r.budget -= memory
                if r.budget < 0:
                    raise r.over_budget()
                read(r, entries)
                pos = r.pos
                if pos >= r.end or r.data[pos] != next_tag:
                    break
                r.pos = pos + 1
        except CodecError as failure:
            failure.in_item(entries.count if r.in_parts else len(entries))
            raise
        r.depth -= 1
        return entries  # type: ignore[no-any-return]

    return more


def _element_read(shape: s.Shape, of: Of) -> Read:
    if not is_message(shape):
        return value_read(shape, of)
    read, rules = message_of(bare(shape), of).read_sized, tuple(rules_of(shape))
    if not rules:
        return read
    return lambda r: r.check(rules, read(r), r.pos)


def message_of(shape: s.Shape, of: Of) -> Message:
    """Of a struct or union, where it is kept, or around a container or optional."""
    if isinstance(shape, s.Struct | s.Union):
        found: Message = of(shape).message
        return found
    return Message(shape, of)
