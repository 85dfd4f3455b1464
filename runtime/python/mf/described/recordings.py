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
read.
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
            self.description = Description(str(head["topic"]), str(head["descriptor"]), str(head["annex"]))
            """Of the topic."""
        except KeyError:
            raise ValueError(f"'{path}' is no recording of `mf record`") from None

    def __iter__(self) -> Iterator[RecordedMessage]:
        def message(given: Any, _: int) -> RecordedMessage:
            return RecordedMessage(_seconds(given["t"]), str(given["agent"]), json.dumps(given["value"]))

        return _lines(self._path, self._begins, message, "message")

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
        waiting: list[tuple[float, int, RecordedCall]] = []
        for call in self._ended():
            heappush(waiting, (call.seconds, call.line, call))
            if len(waiting) > _WINDOW:
                yield heappop(waiting)[2]
        while waiting:
            yield heappop(waiting)[2]

    def _ended(self) -> Iterator[RecordedCall]:
        known: dict[int, Description] = {}

        def read(given: Any, line: int) -> RecordedCall | None:
            if "descriptor" in given:
                known[int(given["of"])] = Description(
                    str(given["service"]), str(given["descriptor"]), str(given["annex"])
                )
                return None
            return RecordedCall(
                line,
                _seconds(given["t"]),
                str(given["service"]),
                str(given["method"]),
                str(given["agent"]),
                _text(given, "arguments"),
                Code[given["code"]],
                _text(given, "result"),
                str(given.get("error", "")),
                _seconds(given["took"]),
                bool(given.get("stream", False)),
                known[given["of"]] if "of" in given else None,
            )

        found = _lines(self._path, self._begins, read, "call")
        return (each for each in found if each is not None)

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


def _head(path: str | PathLike[str], key: str, wrong: str) -> tuple[dict[str, Any], int]:
    """The first line, and where the second one begins."""
    with Path(path).open("rb") as file:
        try:
            given = json.loads(file.readline(MOST_LINE))
            if given[key] == _FORM:
                return given, file.tell()
        except _WRONG:
            pass
    raise ValueError(wrong)


def _lines(path: str | PathLike[str], begins: int, read: Callable[[Any, int], T], what: str) -> Iterator[T]:
    """What `read` makes of each line behind the first one, and of its number."""
    number = 1
    with Path(path).open("rb") as file:
        file.seek(begins)
        while data := file.readline(MOST_LINE):
            number += 1
            try:
                found = read(json.loads(data), number)
            except _WRONG:
                if not data.endswith(b"\n") and not file.readline(1):
                    return  # it was cut
                raise ValueError(f"'{path}': line {number} is no {what}") from None
            yield found


def _seconds(given: Any) -> float:
    """Raises ValueError for what is no time between two of these calls or messages."""
    found = float(given)
    if not abs(found) <= _MOST_SECONDS:  # NaN, too
        raise ValueError("more than 30 years")
    return found


def _text(given: Any, name: str) -> str | None:
    return json.dumps(given[name], ensure_ascii=False) if name in given else None
