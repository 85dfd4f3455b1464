"""R1. Reads JSON carefully: values by the description of their type, one check at a time (docs/json.md).

It runs where the fast reader gave up, and decides: either the text is wrong (a `CodecError` with offset,
path and fault), or it was only rare, and its value comes out after all.
"""

import uuid
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Iterable
from typing import Any, Final

from mf.codec import json_text, sizes
from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.custom import user_codec
from mf.codec.failure import CodecError
from mf.codec.fault import Fault
from mf.codec.json_graph import Reference, Tables, resolve
from mf.codec.json_scan import JsonScanner, failed
from mf.codec.json_write import is_flags
from mf.codec.limits import Limits, limits_of
from mf.codec.times import Duration, Timestamp

_ENTRY: Final = 8  # a list's pointer to its element
_SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}
_WORDS: Final = {b"t": (b"true", True), b"f": (b"false", False)}


def _held(shape: s.Shape) -> int:
    """The memory of an empty list or dict in a container; that of a field counts with its struct."""
    plain = bare(shape)
    return sizes.memory(plain) if isinstance(plain, s.List | s.Map) else 0


class JsonReader(JsonScanner):
    """Reads one value of `text`."""

    def __init__(self, text: bytes, limits: Limits, root: str) -> None:
        super().__init__(text, limits, root)
        self._references: list[Reference] | None = None
        """Of the graph that is read."""

    def whole(self, shape: s.Shape) -> Any:
        """The only value of the text."""
        value = self.read(shape)
        self._skip_blanks()
        if self._pos < len(self._text):
            raise self._fail(Fault.TRAILING_BYTES, "text follows the end of the value", self._pos)
        return value

    def read(self, shape: s.Shape) -> Any:
        shape = bare(shape)
        match shape:
            case s.Scalar():
                return self._scalar(shape)
            case s.Enum():
                return self._flags(shape) if is_flags(shape) else self._enum(shape)
            case s.Optional():
                if self._kind() == "null":
                    return self._word(b"null")
                self._charge(_held(shape.element))
                return self.read(shape.element)
            case s.List():
                return [self._item(shape.element, at) for at in self._elements()]
            case s.Array():
                return [self._item(shape.element, at) for at in self._elements(length=shape.length)]
            case s.Set():
                return self._set(shape)
            case s.Map():
                return self._map(shape)
            case s.Struct() | s.Union():
                return self._composite(shape)
            case s.Custom():
                return self._custom(shape)
            case s.Ref(element=s.Struct() | s.Union() as element):
                return self._reference(element)
            case _:
                raise TypeError(f"{type(shape).__name__} has no JSON")

    # --- composites and containers

    def _item(self, shape: s.Shape, at: int) -> Any:
        self._path.item(at)
        self._charge(_ENTRY + _held(shape))
        value = self.read(shape)
        self._path.back()
        return value

    def _set(self, shape: s.Set) -> set[Any]:
        self._charge(232)
        made: set[Any] = set()
        for at in self._elements():
            self._path.item(at)
            self._charge(sizes.ENTRY)
            value = self.read(shape.element)
            if value in made:
                raise self._fail(Fault.JSON_DUPLICATE_KEY, "an element of a set is there twice")
            made.add(value)
            self._path.back()
        return made

    def _map(self, shape: s.Map) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for at in self._members():
            self._path.item(at)
            self._charge(sizes.ENTRY + _held(shape.value) + (0 if made else sizes.FIRST_ENTRY))
            key = self._key(bare(shape.key))
            if key in made:
                raise self._fail(Fault.JSON_DUPLICATE_KEY, "a key of a map is there twice")
            self._colon()
            made[key] = self.read(shape.value)
            self._path.back()
        return made

    def _key(self, shape: s.Shape) -> Any:
        if shape is not s.BOOL:
            return self.read(shape)
        text = self._string()
        if text not in ("true", "false"):
            raise self._fail(Fault.JSON_WRONG_TYPE, "a key is neither true nor false")
        return text == "true"

    def _composite(self, shape: s.Struct | s.Union) -> Any:
        if shape.tables and self._references is None:
            return self._graph(shape)
        around = self._references
        if not shape.archive:
            self._references = None  # in a value of another tier begin graphs of their own
        value = self._struct(shape) if isinstance(shape, s.Struct) else self._union(shape)
        self._references = around
        return value

    def _graph(self, root: s.Struct | s.Union) -> Any:
        met: list[Reference] = []
        self._references = met
        tables: Tables = {each: [] for each in root.tables.values()}
        seen: set[str] = set()
        for _ in self._members():
            name = self._string()
            shape = root.tables.get(name)
            if shape is None:
                raise self._unknown(Fault.JSON_UNKNOWN_FIELD, name, "a table", root.tables)
            self._path.field(name)
            if name in seen:
                raise self._fail(Fault.JSON_DUPLICATE_KEY, "a table is there twice")
            seen.add(name)
            self._colon()
            for at in self._elements():
                tables[shape].append(self._item(shape, at))
            self._path.back()
        self._references = None
        for each in met:
            if each.index >= len(tables[each.shape]):
                reason = "a reference names no object of its table"
                fault = Fault.INVALID_REFERENCE
                raise failed(fault, reason, each.offset, each.path)
        if not tables[root]:
            raise self._fail(Fault.INVALID_REFERENCE, "a graph has no root", self._pos - 1)
        return resolve(root, tables)

    def _reference(self, shape: s.Struct | s.Union) -> Reference:
        index = self._integer(s.U32)
        found = Reference(shape, index, self._start, str(self._path))
        if self._references is None:
            raise self._fail(Fault.INVALID_REFERENCE, "a reference stands outside of a graph")
        self._charge(160)
        self._references.append(found)
        return found

    def _struct(self, shape: s.Struct) -> Any:
        self._charge(sizes.memory(shape))
        fields = {each.name: each for each in shape.fields}
        found: dict[str, Any] = {}
        for _ in self._members():
            name = self._string()
            field = fields.get(name)
            if field is None:
                raise self._unknown(Fault.JSON_UNKNOWN_FIELD, name, "a field", fields)
            self._path.field(name)
            if name in found:
                raise self._fail(Fault.JSON_DUPLICATE_KEY, "a field is there twice")
            self._colon()
            found[name] = self.read(field.shape)
            self._path.back()
        return shape.make(
            *(found[each.name] if each.name in found else self._missing(each) for each in shape.fields)
        )

    def _missing(self, field: s.Field) -> Any:
        if field.default is not None:
            made = field.default()
            self._charge(sizes.taken(made))  # one too many is no harm: a schema has its defaults in full
            return made
        if isinstance(bare(field.shape), s.Optional):
            return None
        self._path.field(field.name)
        raise self._fail(Fault.MISSING_FIELD, "a field is missing that has no default", self._pos - 1)

    def _union(self, shape: s.Union) -> Any:
        self._charge(sizes.memory(shape))
        members = self._members()
        if next(members, None) is None:
            raise self._fail(Fault.MISSING_FIELD, "a union has one member", self._pos - 1)
        name = self._string()
        chosen = next((each for each in shape.alternatives if each.name == name), None)
        if chosen is None:
            names = [each.name for each in shape.alternatives]
            raise self._unknown(Fault.UNKNOWN_ALTERNATIVE, name, "an alternative", names)
        self._path.field(name)
        self._colon()
        value = chosen.type(self.read(chosen.shape))
        self._path.back()
        if self._at(b","):
            raise self._fail(Fault.JSON_WRONG_TYPE, "a union has one member", self._pos)
        next(members, None)
        return value

    def _unknown(self, fault: Fault, name: str, what: str, names: Iterable[str]) -> CodecError:
        from difflib import get_close_matches

        reason = f"`{name[:64]}` is not {what}"
        near = get_close_matches(name[:64], names, 1)
        return self._fail(fault, f"{reason}; did you mean `{near[0]}`?" if near else reason)

    def _custom(self, shape: s.Custom) -> Any:
        data = self._base64()
        self._charge(sizes.memory(shape) + len(data))
        try:
            made = user_codec(shape.module, shape.codec).decode(data)
        except Exception as error:
            raise self._fail(
                Fault.CUSTOM_CODEC_FAILED, f"the codec of {shape.name} failed: {error!r}"
            ) from error
        if made is None:
            reason = f"the codec of {shape.name} made None of it: its decode must return a value"
            raise self._fail(Fault.CUSTOM_CODEC_FAILED, reason)
        return made

    # --- scalars

    def _name_or_number(self) -> tuple[str, bool]:
        """A string as it is written, and whether it holds a number; or a number."""
        if self._kind() == "a number":
            self._start = self._pos
            return self._number(), True
        text = self._string()
        return text, json_text.NUMBER.fullmatch(text.encode()) is not None

    def _integer(self, scalar: s.Scalar) -> int:
        if self._kind() not in ("a number", "a string"):
            self._expect("a number")
        text, is_number = self._name_or_number()
        if not is_number:
            raise self._fail(Fault.JSON_WRONG_TYPE, "a string holds no number")
        return self._fitting(text, limits_of(scalar.name))

    def _fitting(self, number: str, limits: tuple[int, int]) -> int:
        value = json_text.integer_from(number)
        if value is None:
            raise self._fail(Fault.JSON_WRONG_TYPE, "a number is not whole")
        if not limits[0] <= value <= limits[1]:
            raise self._fail(Fault.NUMBER_OUT_OF_RANGE, "a number does not fit in its type")
        return value

    def _enum(self, shape: s.Enum) -> Any:
        text, is_number = self._name_or_number()
        if not is_number:
            return self._named(shape, text)
        number = self._fitting(text, limits_of(shape.base.name))
        if shape.members is None:
            return shape.values[number]
        if number not in shape.members:
            raise self._fail(Fault.UNKNOWN_ENUM_VALUE, f"{number} is not a member of {shape.name}")
        return shape.members[number]

    def _named(self, shape: s.Enum, name: str) -> Any:
        if name not in shape.names:
            raise self._unknown(Fault.UNKNOWN_ENUM_VALUE, name, "a member", shape.names)
        return shape.names[name]

    def _flags(self, shape: s.Enum) -> Any:
        if self._kind() != "an array":
            return shape.type(self._integer(shape.base))
        self._expect("an array")
        self._pos += 1
        bits = 0
        for at in self._places(b"]"):
            self._path.item(at)
            text, is_number = self._name_or_number()
            more = (
                self._fitting(text, limits_of(shape.base.name))
                if is_number
                else int(self._named(shape, text))
            )
            if bits & more:
                raise self._fail(Fault.JSON_DUPLICATE_KEY, "a bit is named twice")
            bits |= more
            self._path.back()
        return shape.type(bits)

    def _scalar(self, shape: s.Scalar) -> Any:
        reader = _READERS.get(shape.name)
        return self._integer(shape) if reader is None else reader(self)

    def _bool(self) -> bool:
        self._expect("a bool")
        word, value = _WORDS[self._text[self._pos : self._pos + 1]]
        self._word(word)
        return value

    def _float(self, *, single: bool) -> float:
        text, is_number = self._name_or_number()
        if not is_number:
            if text not in _SPECIAL:
                raise self._fail(Fault.JSON_WRONG_TYPE, "a string holds no number")
            return _SPECIAL[text]
        value = json_text.float_from(text, single=single)
        if value - value != 0:
            raise self._fail(Fault.NUMBER_OUT_OF_RANGE, "a number does not fit in its type")
        return value

    def _text_value(self) -> str:
        text = self._string()
        self._charge(64 + len(text))
        return text

    def _base64(self) -> bytes:
        text = self._string()
        try:
            data = a2b_base64(text)
        except (Base64Error, ValueError):
            data = b""
        if json_text.base64_text(data)[1:-1] != text:
            raise self._fail(Fault.JSON_WRONG_TYPE, "bytes are not base64 with padding")
        self._charge(64 + len(data))
        return data

    def _uuid(self) -> uuid.UUID:
        text = self._string()
        if not json_text.is_uuid(text):
            raise self._fail(Fault.JSON_WRONG_TYPE, "a uuid is not 8-4-4-4-12 hexadecimal digits")
        return uuid.UUID(text)

    def _timestamp(self) -> Timestamp:
        text = self._string()
        if json_text.NUMBER.fullmatch(text.encode()) is not None:
            return Timestamp(self._fitting(text, limits_of("i64")))
        return Timestamp(
            self._moment(json_text.timestamp_from(text), "a timestamp is not as RFC 3339 has it")
        )

    def _duration(self) -> Duration:
        return Duration(self._moment(json_text.duration_from(self._string()), "a duration is not like -1.5s"))

    def _moment(self, value: Any, reason: str) -> int:
        if value is None:
            raise self._fail(Fault.JSON_WRONG_TYPE, reason)
        if value is json_text.OUT_OF_RANGE:
            reason = "a time does not fit in 64 bits of nanoseconds"
            raise self._fail(Fault.NUMBER_OUT_OF_RANGE, reason)
        return int(value)


_READERS: Final[dict[str, Callable[[JsonReader], Any]]] = {
    "bool": JsonReader._bool,
    "f32": lambda reader: reader._float(single=True),
    "f64": lambda reader: reader._float(single=False),
    "string": JsonReader._text_value,
    "bytes": JsonReader._base64,
    "uuid": JsonReader._uuid,
    "timestamp": JsonReader._timestamp,
    "duration": JsonReader._duration,
}
