"""R1. The parts of a JSON text, from left to right over its bytes: of the reader that names faults.

It reads brackets, strings, numbers and words, and no types. What is wrong raises a `CodecError` with
offset and path; depth and memory are counted here, because they are the whole text's.
"""

import re
from collections.abc import Iterator
from typing import Final

from mf.codec import json_text
from mf.codec.failure import CodecError, item_step
from mf.codec.fault import Fault
from mf.codec.limits import MAX_DEPTH, Limits
from mf.core.error import Code

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


class Path:
    """Where in a value the reader is: 'Hit.positions[3]'."""

    __slots__ = ("_steps",)

    def __init__(self, root: str) -> None:
        self._steps = [root] if root else []

    def field(self, name: str) -> None:
        self._steps.append(f".{name}" if self._steps else name)

    def item(self, key: object) -> None:
        self._steps.append(item_step(key))

    def back(self) -> None:
        self._steps.pop()

    def __str__(self) -> str:
        return "".join(self._steps).removeprefix(".")


def failed(fault: Fault, reason: str, offset: int, path: str) -> CodecError:
    failure = CodecError(reason, offset, fault, Code.DECODE_ERROR)
    failure.steps.append(path)
    return failure


class JsonScanner:
    """Where a reader is in `text`, which is UTF-8."""

    def __init__(self, text: bytes, limits: Limits, root: str) -> None:
        self._text = text
        self._pos = 0
        self._start = 0
        """Where the last value or name of a member begins that was encountered."""
        self._path = Path(root)
        self._depth = 0
        self._budget = limits.decoded

    def _fail(self, fault: Fault, reason: str, at: int | None = None) -> CodecError:
        offset = self._start if at is None else at
        return failed(fault, reason, offset, str(self._path))

    def _syntax(self, reason: str, at: int | None = None) -> CodecError:
        return self._fail(Fault.JSON_SYNTAX, reason, self._pos if at is None else at)

    def _charge(self, memory: int) -> None:
        self._budget -= memory
        if self._budget < 0:
            reason = "the decoded value would take more memory than a message may"
            raise self._fail(Fault.BUDGET_EXCEEDED, reason, self._pos)

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._text, self._pos)
        assert match is not None
        self._pos = match.end()

    def _kind(self) -> str:
        """Of the value that comes next, by its first byte; "" for none."""
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
        """Each comes before a name."""
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
