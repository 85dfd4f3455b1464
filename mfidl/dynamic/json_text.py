"""F6. JSON text as bytes with a position: blanks, strings, numbers, words. It reads no types."""

import re

from mf.codec.fault import Fault
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.path import Path

_BLANKS = re.compile(rb"[ \t\n\r]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_HEX = re.compile(rb"[0-9A-Fa-f]{4}")
_ESCAPES = {b'"': '"', b"\\": "\\", b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}
_WORDS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
# What a value is, by its first byte.
KINDS = {
    **dict.fromkeys(b"-0123456789", "number"),
    ord('"'): "string",
    ord("["): "array",
    ord("{"): "object",
    ord("t"): "bool",
    ord("f"): "bool",
    ord("n"): "null",
}


class JsonText:
    __slots__ = ("data", "path", "pos")

    def __init__(self, data: bytes, root: str) -> None:
        self.data = data
        self.path = Path(root)
        self.pos = 0
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.fail(Fault.INVALID_UTF8, "the text is not valid UTF-8", error.start) from None

    def fail(self, fault: Fault, reason: str, at: int | None = None) -> DecodeError:
        return DecodeError(fault, self.pos if at is None else at, str(self.path), reason)

    def blanks(self) -> None:
        match = _BLANKS.match(self.data, self.pos)
        assert match is not None
        self.pos = match.end()

    def peek(self) -> int:
        """The next byte; -1 at the end."""
        return self.data[self.pos] if self.pos < len(self.data) else -1

    def kind(self) -> str:
        """Of the value that begins behind the blanks here."""
        self.blanks()
        kind = KINDS.get(self.peek())
        if kind is None:
            what = "the text ends" if self.pos == len(self.data) else f"`{self._here()}` stands"
            raise self.fail(Fault.JSON_SYNTAX, f"{what} where a value should be")
        return kind

    def expect(self, *signs: str) -> str:
        """One of these signs, behind blanks."""
        self.blanks()
        found = chr(self.peek()) if self.peek() >= 0 else ""
        if found not in signs or not found:
            wanted = " or ".join(f"`{each}`" for each in signs)
            what = "the text ends" if not found else f"`{self._here()}` stands"
            raise self.fail(Fault.JSON_SYNTAX, f"{what} where {wanted} should be")
        self.pos += 1
        return found

    def _here(self) -> str:
        """The character at this place."""
        return self.data[self.pos : self.pos + 4].decode("utf-8", "ignore")[:1]

    def word(self) -> bool | None:
        """true, false or null, of which the first letter is here."""
        word = _WORDS[self.peek()]
        if self.data[self.pos : self.pos + len(word)] != word:
            raise self.fail(Fault.JSON_SYNTAX, f"only `{word.decode()}` begins so")
        self.pos += len(word)
        return None if word == b"null" else word == b"true"

    def number(self) -> str:
        match = _NUMBER.match(self.data, self.pos)
        if match is None:
            self.pos += 1  # the minus
            raise self.fail(Fault.JSON_SYNTAX, "a digit should follow here")
        end = match.end()
        text = match[0].decode()
        follows = self.data[end : end + 2].decode("latin-1")
        goes_on = follows[:1] == "." and "." not in text and "e" not in text.lower()
        if goes_on or (follows[:1] in ("e", "E") and "e" not in text.lower()):
            self.pos = end + (2 if follows[:1] != "." and follows[1:] in ("+", "-") else 1)
            raise self.fail(Fault.JSON_SYNTAX, "a digit should follow here")
        self.pos = end
        return text

    def string(self) -> str:
        """Of which the opening quote is here."""
        self.pos += 1
        pieces: list[str] = []
        while True:
            match = _PLAIN.match(self.data, self.pos)
            assert match is not None
            pieces.append(match[0].decode("utf-8"))
            self.pos = match.end()
            sign = self.data[self.pos : self.pos + 1]
            if sign == b'"':
                self.pos += 1
                return "".join(pieces)
            if sign != b"\\":
                what = "a control character needs an escape" if sign else "the text ends inside of a string"
                raise self.fail(Fault.JSON_SYNTAX, what)
            pieces.append(self._escape())

    def _escape(self) -> str:
        start = self.pos
        sign = self.data[start + 1 : start + 2]
        if sign in _ESCAPES:
            self.pos += 2
            return _ESCAPES[sign]
        if sign != b"u":
            raise self.fail(Fault.JSON_SYNTAX, "there is no such escape", start)
        unit = self._unit(start)
        if 0xDC00 <= unit < 0xE000:
            raise self.fail(Fault.JSON_SYNTAX, "half of a surrogate pair", start)
        if not 0xD800 <= unit < 0xDC00:
            return chr(unit)
        if self.data[self.pos : self.pos + 2] != b"\\u":
            raise self.fail(Fault.JSON_SYNTAX, "half of a surrogate pair", start)
        low = self._unit(self.pos)
        if not 0xDC00 <= low < 0xE000:
            raise self.fail(Fault.JSON_SYNTAX, "half of a surrogate pair", start)
        return chr(0x10000 + (unit - 0xD800 << 10) + (low - 0xDC00))

    def _unit(self, start: int) -> int:
        """The four digits of an escape that begins at `start`."""
        match = _HEX.match(self.data, start + 2)
        if match is None:
            raise self.fail(Fault.JSON_SYNTAX, "four hexadecimal digits belong to this escape", start)
        self.pos = start + 6
        return int(match[0], 16)

    def finish(self) -> None:
        self.blanks()
        if self.pos < len(self.data):
            raise self.fail(Fault.TRAILING_BYTES, "something follows behind the end of the value")
