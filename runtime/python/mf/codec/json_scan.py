"""R1. A JSON text from left to right, for the reader that names faults: brackets, strings, numbers and words.

The scanner is at one value of the text at a time. It gives what that value is to the functions of
mf.codec.json_read, and counts memory and the path on the way. What is wrong raises a `JsonError`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from json import loads
from typing import Any, Final, NamedTuple

from mf.codec import json_text
from mf.codec.failure import MalformedError, item_step
from mf.codec.fault import Fault
from mf.codec.limits import MAX_DEPTH, Limits

_BLANKS: Final = re.compile(rb"[ \t\n\r]*")
_NUMBER: Final = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?")
"""One, or the beginning of one that lacks a digit."""
_CODE_UNIT: Final = re.compile(rb"\\u[0-9a-fA-F]{4}")
_STRING: Final = re.compile(
    rb'"(?:[^\x00-\x1f"\\]+|\\["\\/bfnrt]|\\u(?:(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*"
)
_KINDS: Final = {
    ord("{"): "an object",
    ord("["): "an array",
    ord('"'): "a string",
    ord("n"): "null",
    **dict.fromkeys(b"tf", "a bool"),
    **dict.fromkeys(b"-0123456789", "a number"),
}
_TEXT: Final = 64  # bytes of memory that a string takes beside its characters


class Members(NamedTuple):
    """What an object may have: the names, the fault of another name, what they are, and the memory of the
    value. `only`: it has one of them."""

    names: Mapping[str, Any]
    fault: Fault
    what: str
    memory: int
    only: bool = False


class JsonError(MalformedError):
    """`offset`: None for the value or name that the scanner is at."""

    def __init__(self, fault: Fault, reason: str, offset: int | None = None) -> None:
        super().__init__(reason)
        self.fault = fault
        self.reason = reason
        self.offset = offset


def unknown_name(fault: Fault, name: str, what: str, names: Iterable[str]) -> JsonError:
    from difflib import get_close_matches

    near = get_close_matches(name[:64], names, 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return JsonError(fault, f"`{name[:64]}` is not {what}{hint}")


def _utf8(text: str | bytes) -> bytes:
    try:
        if isinstance(text, str):
            return text.encode()
        text.decode()
        return text
    except UnicodeEncodeError as error:
        offset = len(error.object[: error.start].encode())
    except UnicodeDecodeError as error:
        offset = error.start
    raise JsonError(Fault.INVALID_UTF8, "the text is not UTF-8", offset)


class JsonScanner:
    """Where a reader is in a text; `root` is the name of the type, or empty."""

    def __init__(self, limits: Limits, root: str) -> None:
        self._text = b""
        self._pos = 0
        self._has_colon = False
        """Whether a colon comes before the value."""
        self._budget = limits.decoded
        self.start = 0
        """Where the last value or name of a member begins that was encountered."""
        self.steps = [root] if root else []

    @property
    def path(self) -> str:
        """Where in the value the reader is: 'Hit.positions[3]'."""
        return "".join(self.steps).removeprefix(".")

    @property
    def closing(self) -> int:
        """The offset of the bracket that has been read last."""
        return self._pos - 1

    def enter(self, name: str) -> None:
        """One step deeper, in a member. Its place is left when the member has been read."""
        self.steps.append(f".{name}")

    def charge(self, memory: int) -> None:
        self._budget -= memory
        if self._budget < 0:
            reason = "the decoded value would take more memory than a message may"
            raise JsonError(Fault.BUDGET_EXCEEDED, reason, self._pos)

    def whole(self, text: str | bytes, read: "Callable[[JsonScanner, int], Any]") -> Any:
        """The only value of the text."""
        self._text = _utf8(text)
        value = read(self, MAX_DEPTH)
        self._skip_blanks()
        if self._pos < len(self._text):
            raise JsonError(Fault.TRAILING_BYTES, "text follows the end of the value", self._pos)
        return value

    def is_a(self, kind: str) -> bool:
        """Whether the value is of this kind, by its first byte."""
        if self._has_colon:
            self._colon()
        return self._kind() == kind

    # --- single values

    def is_null(self, memory: int) -> bool:
        """Takes the word, or charges what there is instead of it."""
        if self.is_a("null"):
            self._word(b"null")
            return True
        self.charge(memory)
        return False

    def truth(self) -> bool:
        self._expect("a bool")
        value = self._at(b"t")
        self._word(b"true" if value else b"false")
        return value

    def literal(self, wanted: str) -> tuple[str, bool]:
        """A number, or a string as it is written, and whether it holds a number."""
        if not self.is_a("a number"):
            if not self.is_a("a string"):
                self._expect(wanted)
            text = self.string()
            return text, json_text.NUMBER.fullmatch(text) is not None
        self.start = self._pos
        match = _NUMBER.match(self._text, self._pos)
        assert match is not None
        self._pos = match.end()
        text = match[0].decode()
        if not text[-1:].isdigit():
            raise self._syntax("a number lacks a digit")
        return text, True

    def string(self) -> str:
        self._expect("a string")
        match = _STRING.match(self._text, self._pos)
        assert match is not None
        self._pos = match.end()
        if not self._text.startswith(b'"', self._pos):
            raise self._cut()
        self._pos += 1
        found: str = loads(self._text[self.start : self._pos].decode())
        return found

    def _cut(self) -> JsonError:
        """Of a string, at the first byte that cannot be in it."""
        rest = self._text[self._pos : self._pos + 8]
        if not rest:
            return self._syntax("a string does not end")
        if rest[0] != ord("\\"):
            return self._syntax("a control character in a string is not escaped")
        if rest[1:2] != b"u":
            return self._syntax("no such escape in a string")
        if not _CODE_UNIT.match(rest):
            return self._syntax("four hexadecimal digits stand behind \\u")
        if (
            rest[2:4].lower() < b"dc"
            and rest[6:8] == b"\\u"
            and not _CODE_UNIT.match(self._text, self._pos + 6)
        ):
            return self._syntax("four hexadecimal digits stand behind \\u", self._pos + 6)
        return self._syntax("half of a surrogate pair")

    def text(self) -> str:
        """A string that is the value itself."""
        text = self.string()
        self.charge(_TEXT + len(text))
        return text

    # --- objects and arrays

    def members(self, levels: int, allowed: Members) -> "Iterator[tuple[str, JsonScanner]]":
        """The name of each member, and the scanner at its value."""
        self._open("an object", levels)
        self.charge(allowed.memory)
        seen: set[str] = set()
        for _ in self._places(b"}"):
            name = self.string()
            if name not in allowed.names:
                raise unknown_name(allowed.fault, name, allowed.what, allowed.names)
            self.enter(name)
            if name in seen:
                raise JsonError(Fault.JSON_DUPLICATE_KEY, f"{allowed.what} is there twice")
            seen.add(name)
            self._colon()
            yield name, self
            self.steps.pop()
            if allowed.only and self._at(b","):
                raise JsonError(Fault.JSON_WRONG_TYPE, "a union has one member", self._pos)
        if allowed.only and not seen:
            raise JsonError(Fault.MISSING_FIELD, "a union has one member", self.closing)

    def entries(self, levels: int, memory: int, first: int) -> "Iterator[tuple[str, JsonScanner]]":
        """The key of each entry of a map, and the scanner in front of its value. `first`: memory more."""
        self._open("an object", levels)
        for at in self._places(b"}"):
            self.steps.append(item_step(at))
            self.charge(memory + (0 if at else first))
            name = self.string()
            self.charge(len(name))
            self._has_colon = True  # behind a key that the reader has not looked at yet
            yield name, self
            self.steps.pop()

    def elements(self, levels: int, memory: int, length: int | None = None) -> "Iterator[JsonScanner]":
        """The scanner at each element; of an array of `length`, if one is given."""
        self._open("an array", levels)
        for at in self._places(b"]", length):
            self.steps.append(item_step(at))
            self.charge(memory)
            yield self
            self.steps.pop()

    # --- the parts

    def _syntax(self, reason: str, at: int | None = None) -> JsonError:
        return JsonError(Fault.JSON_SYNTAX, reason, self._pos if at is None else at)

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._text, self._pos)
        assert match is not None
        self._pos = match.end()

    def _at(self, byte: bytes) -> bool:
        self._skip_blanks()
        return self._text.startswith(byte, self._pos)

    def _kind(self) -> str:
        self._skip_blanks()
        return _KINDS.get(self._text[self._pos], "") if self._pos < len(self._text) else ""

    def _expect(self, kind: str) -> None:
        is_there = self.is_a(kind)
        self.start = self._pos
        if is_there:
            return
        found = self._kind()
        if not found:
            ends = self._pos == len(self._text)
            raise self._syntax("the text ends early" if ends else "no value begins like this")
        raise JsonError(Fault.JSON_WRONG_TYPE, f"expected {kind}, found {found}")

    def _word(self, word: bytes) -> None:
        if not self._text.startswith(word, self._pos):
            raise self._syntax("expected true, false or null")
        self._pos += len(word)

    def _open(self, kind: str, levels: int) -> None:
        self._expect(kind)
        if not levels:
            raise JsonError(Fault.DEPTH_EXCEEDED, "objects and arrays are nested too deep")
        self._pos += 1

    def _places(self, close: bytes, length: int | None = None) -> Iterator[int]:
        """0, 1, 2 ... in front of each member or element, up to and with the closing bracket."""
        at = 0
        while not self._at(close):
            if at and not self._at(b","):
                raise self._syntax(f"a comma or {close.decode()} stands behind what is in it")
            if at == length and (at or self._kind()):
                raise JsonError(Fault.WRONG_LENGTH, "an array has too many elements", self._pos)
            self._pos += bool(at)
            if close == b"}" and not self._at(b'"'):
                raise self._syntax("a member begins with its name in quotes")
            yield at
            at += 1
        if length is not None and at != length:
            raise JsonError(Fault.WRONG_LENGTH, "an array has too few elements", self._pos)
        self._pos += 1

    def _colon(self) -> None:
        if not self._at(b":"):
            raise self._syntax("a colon stands behind the name of a member")
        self._has_colon = False
        self._pos += 1
