"""R1. Reads JSON carefully: from left to right over its bytes, one check at a time (docs/json.md).

It runs where the fast reader gave up, and decides: either the text is wrong (a `CarefulError` with offset,
path and fault), or it was only rare, and its value comes out after all.
"""

import re
import uuid
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from mf.codec import json_text, sizes
from mf.codec import shape as s
from mf.codec.careful_error import CarefulError, Path
from mf.codec.fault import Fault
from mf.codec.json_graph import Reference, Tables, resolve
from mf.codec.json_write import bare, is_flags, limits_of
from mf.codec.limits import MAX_DEPTH, Limits
from mf.codec.times import Duration, Timestamp
from mf.core.error import Code

_ENTRY: Final = 8  # a list's pointer to its element
_NODE: Final = 100  # an entry of a dict or set

_BLANKS: Final = re.compile(rb"[ \t\n\r]*")
_PLAIN: Final = re.compile(rb'[^\x00-\x1f"\\]*')
_PREFIX: Final = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?)?)?")
_CODE_UNIT: Final = re.compile(rb"\\u([0-9a-fA-F]{4})")
_ESCAPES: Final = {
    b'"': b'"',
    b"\\": b"\\",
    b"/": b"/",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
}
_KINDS: Final = {
    ord("{"): "an object",
    ord("["): "an array",
    ord('"'): "a string",
    ord("n"): "null",
    **dict.fromkeys(b"tf", "a bool"),
    **dict.fromkeys(b"-0123456789", "a number"),
}
_SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}
_WORDS: Final = {b"t": (b"true", True), b"f": (b"false", False)}


def _held(shape: s.Shape) -> int:
    """The memory of an empty list or dict in a container; that of a field counts with its struct."""
    plain = bare(shape)
    return sizes.memory(plain) if isinstance(plain, s.List | s.Map) else 0


class JsonReader:
    """Reads one value of `text`, which is UTF-8."""

    def __init__(self, text: bytes, limits: Limits, root: str) -> None:
        self._text = text
        self._pos = 0
        self._start = 0
        """Where the value, or the name of a member, begins that was met last."""
        self._path = Path(root)
        self._depth = 0
        self._budget = limits.decoded
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

    def _fail(self, fault: Fault, reason: str, at: int | None = None) -> CarefulError:
        offset = self._start if at is None else at
        return CarefulError(Code.DECODE_ERROR, str(self._path), reason, offset, fault)

    def _syntax(self, reason: str, at: int | None = None) -> CarefulError:
        return self._fail(Fault.JSON_SYNTAX, reason, self._pos if at is None else at)

    def _charge(self, memory: int) -> None:
        self._budget -= memory
        if self._budget < 0:
            reason = "the decoded value would take more memory than a message may"
            raise self._fail(Fault.BUDGET_EXCEEDED, reason, self._pos)

    # --- what stands where

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._text, self._pos)
        assert match is not None
        self._pos = match.end()

    def _kind(self) -> str:
        """Of the value that stands next, by its first byte; "" for none."""
        self._skip_blanks()
        return _KINDS.get(self._text[self._pos], "") if self._pos < len(self._text) else ""

    def _expect(self, *wanted: str) -> str:
        kind = self._kind()
        self._start = self._pos
        if kind in wanted:
            return kind
        if self._pos == len(self._text):
            raise self._syntax("the text ends early")
        if not kind:
            raise self._syntax("no value begins like this")
        raise self._fail(Fault.JSON_WRONG_TYPE, f"expected {wanted[0]}, found {kind}")

    def _at(self, byte: bytes) -> bool:
        self._skip_blanks()
        return self._text.startswith(byte, self._pos)

    def _word(self, word: bytes) -> None:
        if not self._text.startswith(word, self._pos):
            raise self._syntax("expected true, false or null")
        self._pos += len(word)

    def _number(self) -> str:
        """As it is written."""
        match = json_text.NUMBER.match(self._text, self._pos)
        prefix = _PREFIX.match(self._text, self._pos)
        assert prefix is not None
        if match is None or prefix.end() > match.end():
            raise self._syntax("a number lacks a digit", prefix.end())
        self._pos = match.end()
        return match[0].decode()

    def _string(self) -> str:
        self._expect("a string")
        self._pos += 1
        parts = []
        while True:
            match = _PLAIN.match(self._text, self._pos)
            assert match is not None
            parts.append(match[0])
            self._pos = match.end()
            byte = self._text[self._pos : self._pos + 1]
            if byte == b'"':
                self._pos += 1
                return b"".join(parts).decode()
            if byte == b"\\":
                parts.append(self._escape())
            elif byte:
                raise self._syntax("a control character in a string is not escaped")
            else:
                raise self._syntax("a string does not end")

    def _escape(self) -> bytes:
        mark = self._text[self._pos + 1 : self._pos + 2]
        if mark == b"u":
            return self._code_point().encode()
        if mark not in _ESCAPES:
            raise self._syntax("no such escape in a string")
        self._pos += 2
        return _ESCAPES[mark]

    def _code_point(self) -> str:
        backslash = self._pos
        unit = self._code_unit()
        if 0xDC00 <= unit < 0xE000:
            raise self._syntax("half of a surrogate pair", backslash)
        if 0xD800 <= unit < 0xDC00:
            if not self._text.startswith(b"\\u", self._pos):
                raise self._syntax("half of a surrogate pair", backslash)
            low = self._code_unit()
            if not 0xDC00 <= low < 0xE000:
                raise self._syntax("half of a surrogate pair", backslash)
            unit = 0x10000 + (unit - 0xD800 << 10) + low - 0xDC00
        return chr(unit)

    def _code_unit(self) -> int:
        match = _CODE_UNIT.match(self._text, self._pos)
        if match is None:
            raise self._syntax("four hexadecimal digits stand behind \\u")
        self._pos = match.end()
        return int(match[1], 16)

    def _open(self, kind: str) -> None:
        self._expect(kind)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            reason = f"nested deeper than {MAX_DEPTH} objects and arrays"
            raise self._fail(Fault.DEPTH_EXCEEDED, reason)
        self._pos += 1

    def _places(self, close: bytes, length: int | None = None) -> Iterator[int]:
        """0, 1, 2 … in front of each member or element, up to and with the closing bracket."""
        at = 0
        while not self._at(close):
            if at and not self._at(b","):
                raise self._syntax(f"a comma or {close.decode()} stands behind what is in it")
            if at == length and (at or self._kind()):
                raise self._fail(Fault.WRONG_LENGTH, "an array has too many elements", self._pos)
            self._pos += bool(at)
            yield at
            at += 1
        if length is not None and at != length:
            raise self._fail(Fault.WRONG_LENGTH, "an array has too few elements", self._pos)
        self._pos += 1

    def _elements(self, length: int | None = None) -> Iterator[int]:
        self._open("an array")
        yield from self._places(b"]", length)
        self._depth -= 1

    def _members(self) -> Iterator[int]:
        """Each stands in front of a name."""
        self._open("an object")
        for at in self._places(b"}"):
            if not self._at(b'"'):
                raise self._syntax("a member begins with its name in quotes")
            yield at
        self._depth -= 1

    def _colon(self) -> None:
        if not self._at(b":"):
            raise self._syntax("a colon stands behind the name of a member")
        self._pos += 1

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
            self._charge(_NODE)
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
            self._charge(_NODE + _held(shape.value) + (0 if made else sizes.FIRST_ENTRY))
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
                raise CarefulError(Code.DECODE_ERROR, each.path, reason, each.offset, fault)
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
            return field.default()
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

    def _unknown(self, fault: Fault, name: str, what: str, names: Iterable[str]) -> CarefulError:
        from difflib import get_close_matches

        reason = f"`{name[:64]}` is not {what}"
        near = get_close_matches(name[:64], names, 1)
        return self._fail(fault, f"{reason}; did you mean `{near[0]}`?" if near else reason)

    def _custom(self, shape: s.Custom) -> Any:
        data = self._base64()
        self._charge(sizes.memory(shape) + len(data))
        from mf.codec.custom import user_codec

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
        """A string as it stands, and whether it holds a number; or a number."""
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
        return self._fitting(text, limits_of(scalar))

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
        number = self._fitting(text, limits_of(shape.base))
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
            more = self._fitting(text, limits_of(shape.base)) if is_number else int(self._named(shape, text))
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
            return Timestamp(self._fitting(text, limits_of(s.I64)))
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
