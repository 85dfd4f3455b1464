"""R8. Recordings, as `mf record` writes them: lines of JSON. Of a topic, the first line says what the topic
is, and each further one is a message:

    {"mf_recording": 1, "topic": NAME, "descriptor": TEXT, "annex": TEXT, "begun": TIME}
    {"t": SECONDS since the first message, "agent": NAME, "value": JSON}

Of calls, a line with a description comes before the calls that have its number:

    {"mf_calls": 1, "begun": TIME}
    {"of": NUMBER, "service": NAME, "descriptor": TEXT, "annex": TEXT}
    {"t": SECONDS since the first call began, "of": NUMBER, "service": NAME, "method": NAME, "agent": NAME,
     "arguments": JSON, "code": NAME, "result": JSON, "error": TEXT, "took": SECONDS, "stream": true}

What a call does not have is left out: `arguments` and `result` also where a server did not show them, and
`of` where it could not be described. A last line that was cut (a full disk, a crash) is left out when it is
read. The reader of C++ is runtime/cpp/src/testing/recorded.cpp; tests of both read tests/vectors/recordings.
"""

import json
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mf.core.description import Description
from mf.core.error import Code

T = TypeVar("T")

MOST_LINE = 32 << 20
"""Bytes of a line."""
_FORM = 1
_WINDOW = 1024
"""So many lines of calls, which are written when they end, are put in the order in which they began."""
_MOST_WAITING = 64 << 20
"""Bytes of these lines."""
_MOST_DESCRIPTIONS = 1000
_MOST_SECONDS = 1e9
_WRONG = (ValueError, KeyError, TypeError, RecursionError, OverflowError)


class RecordedMessage(NamedTuple):
    """`seconds`: since the first message. `value`: of the type that it was read as; JSON in a Recording."""

    seconds: float
    agent: str
    value: Any


class RecordedCall(NamedTuple):
    """`line`: its line in the file. `seconds`: when it began, since the first call began. `took`: seconds
    until its handler had ended. `arguments`: by their names; JSON in a CallRecording. `result`: in the same
    way. None for what is not recorded. `error`: of a failure, in words. `stream`: it has one, whose values
    are not recorded. `description`: of its service; None if the server could not be asked."""

    line: int
    seconds: float
    service: str
    method: str
    agent: str
    arguments: Any
    code: Code
    result: Any
    error: str
    took: float
    stream: bool
    description: Description | None


class Recording:
    """The messages of one file, in order, with their values as JSON; each `for` reads it from the beginning.
    Raises OSError, and ValueError, in one sentence, for what is no recording, here or at the message that
    is none.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        head, self._begins = _head(path, "mf_recording", f"'{path}' is no recording of `mf record`")
        try:
            self.description = _description(head, "topic")
            """Of the topic."""
        except _WRONG:
            raise ValueError(f"'{path}' is no recording of `mf record`") from None

    def __iter__(self) -> Iterator[RecordedMessage]:
        return (message for _, message in self.numbered())

    def numbered(self) -> Iterator[tuple[int, RecordedMessage]]:
        """The messages, each with the number of its line."""

        def message(given: Any, line: int) -> tuple[int, RecordedMessage]:
            return line, RecordedMessage(
                _seconds(given["t"]), _string(given, "agent"), _compact(given["value"])
            )

        found = _lines(self._path, self._begins, message, "message")
        return (each for each, _ in found)

    @staticmethod
    def between(first: int, at: int) -> float:
        """The time of a line, in seconds, from two times in nanoseconds. What is beyond 30 years, as with a
        clock that was set in between, is as much as a reader takes."""
        return max(-_MOST_SECONDS, min(_MOST_SECONDS, round((at - first) / 1e9, 9)))

    @staticmethod
    def head(of: Description, begun: str) -> dict[str, Any]:
        """The first line of a new one. `begun`: a time as JSON has it."""
        return {
            "mf_recording": _FORM,
            "topic": of.name,
            "descriptor": of.descriptor,
            "annex": of.annex,
            "begun": begun,
        }


class CallRecording:
    """The calls of one file, with their values as JSON, in the order in which they began; a call that lasted
    longer than the 1,024 calls after it comes later. Each `for` reads the file from the beginning. Raises
    OSError, and ValueError, in one sentence, for what is no recording of calls, here or at the line that is
    none.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        _, self._begins = _head(path, "mf_calls", f"'{path}' is no recording of `mf record --calls`")

    def __iter__(self) -> Iterator[RecordedCall]:
        waiting: list[tuple[float, int, int, RecordedCall]] = []
        held = 0
        for call, size in self._ended():
            heappush(waiting, (call.seconds, call.line, size, call))
            held += size
            while len(waiting) > _WINDOW or held > _MOST_WAITING:
                _, _, size, first = heappop(waiting)
                held -= size
                yield first
        while waiting:
            yield heappop(waiting)[3]

    def _ended(self) -> Iterator[tuple[RecordedCall, int]]:
        """With the bytes of their lines."""
        known: dict[int, Description] = {}

        def read(given: Any, line: int) -> RecordedCall | None:
            if "descriptor" in given:
                if len(known) == _MOST_DESCRIPTIONS:
                    raise _TooManyError
                known[int(given["of"])] = _description(given, "service")
                return None
            return RecordedCall(
                line,
                _seconds(given["t"]),
                _string(given, "service"),
                _string(given, "method"),
                _string(given, "agent"),
                _text(given, "arguments"),
                Code[given["code"]],
                _text(given, "result"),
                _string(given, "error") if "error" in given else "",
                _seconds(given["took"]),
                _is_true(given, "stream"),
                known[given["of"]] if "of" in given else None,
            )

        found = _lines(self._path, self._begins, read, "call")
        return ((each, size) for each, size in found if each is not None)

    @staticmethod
    def is_one(path: str | PathLike[str]) -> bool:
        """Whether the file begins as a recording of calls does. Raises OSError."""
        try:
            _head(path, "mf_calls", "")
        except ValueError:
            return False
        return True

    @staticmethod
    def head(begun: str) -> dict[str, Any]:
        """The first line of a new one. `begun`: a time as JSON has it."""
        return {"mf_calls": _FORM, "begun": begun}

    @staticmethod
    def described(number: int, of: Description) -> dict[str, Any]:
        """The line before the first call of this description."""
        return {"of": number, "service": of.name, "descriptor": of.descriptor, "annex": of.annex}


class _TooManyError(Exception):
    """Descriptions."""


def _head(path: str | PathLike[str], key: str, wrong: str) -> tuple[dict[str, Any], int]:
    """The first line, and where the second one begins."""
    with Path(path).open("rb") as file:
        try:
            given = json.loads(file.readline(MOST_LINE))
            form = int(given[key])
        except _WRONG:
            raise ValueError(wrong) from None
        if form != _FORM:
            text = f"'{path}' is a recording of version {form}, and this reads version {_FORM}"
            raise ValueError(text)
        return given, file.tell()


def _lines(
    path: str | PathLike[str], begins: int, read: Callable[[Any, int], T], what: str
) -> Iterator[tuple[T, int]]:
    """What `read` makes of each line behind the first one, and of its number; with the bytes of the line."""
    number = 1
    with Path(path).open("rb") as file:
        file.seek(begins)
        while data := file.readline(MOST_LINE + 1):
            number += 1
            place = f"'{path}': line {number} (at byte {begins})"
            begins += len(data)
            if len(data) > MOST_LINE:
                raise ValueError(f"{place} is longer than {MOST_LINE >> 20} MiB")
            try:
                found = read(json.loads(data), number)
            except _TooManyError:
                raise ValueError(f"{place} is beyond {_MOST_DESCRIPTIONS:,} descriptions") from None
            except _WRONG:
                if not data.endswith(b"\n"):
                    return  # it was cut
                raise ValueError(f"{place} is no {what}") from None
            yield found, len(data)


def _seconds(given: Any) -> float:
    """Raises ValueError for what is no time between two of these calls or messages."""
    found = float(given)
    if not abs(found) <= _MOST_SECONDS:  # NaN, too
        raise ValueError("more than 30 years")
    return found


def _description(given: Any, name: str) -> Description:
    return Description(_string(given, name), _string(given, "descriptor"), _string(given, "annex"))


def _string(given: Any, name: str) -> str:
    """Raises KeyError, or TypeError for what is none."""
    found = given[name]
    if not isinstance(found, str):
        raise TypeError(name)
    return found


def _is_true(given: Any, name: str) -> bool:
    """False if it is missing. Raises TypeError for what is no bool."""
    found = given.get(name, False)
    if not isinstance(found, bool):
        raise TypeError(name)
    return found


def _text(given: Any, name: str) -> str | None:
    return _compact(given[name]) if name in given else None


def _compact(given: Any) -> str:
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))
