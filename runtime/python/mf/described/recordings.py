"""R8. Recordings of a topic, as `mf record` writes them: lines of JSON. The first says what the topic is,
each further one is a message:

    {"mf_recording": 1, "topic": NAME, "descriptor": TEXT, "annex": TEXT, "begun": TIME}
    {"t": SECONDS since the first message, "agent": NAME, "value": JSON}

A last line that was cut (a full disk, a crash) is left out when it is read.
"""

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from mf.core.description import Description

MOST_LINE = 32 << 20
"""Bytes of a line."""
_FORM = 1


class RecordedMessage(NamedTuple):
    """`seconds`: since the first message. `value`: of the type that it was read as; JSON in a Recording."""

    seconds: float
    agent: str
    value: Any


class Recording:
    """The messages of one file, in order, with their values as JSON; each `for` reads it from the beginning.
    Raises OSError, and ValueError, in one sentence, for what is no recording, here or at the message that
    is none.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        with Path(path).open("rb") as file:
            self.description = self._head(file.readline(MOST_LINE))
            """Of the topic."""
            self._begins = file.tell()

    def __iter__(self) -> Iterator[RecordedMessage]:
        number = 1
        with Path(self._path).open("rb") as file:
            file.seek(self._begins)
            while data := file.readline(MOST_LINE):
                number += 1
                try:
                    given = json.loads(data)
                    message = RecordedMessage(
                        float(given["t"]), str(given["agent"]), json.dumps(given["value"])
                    )
                except (ValueError, KeyError, TypeError, RecursionError):
                    if not data.endswith(b"\n") and not file.readline(1):
                        return  # it was cut
                    raise ValueError(f"'{self._path}': line {number} is no message") from None
                yield message

    def _head(self, data: bytes) -> Description:
        try:
            given = json.loads(data)
            if given["mf_recording"] == _FORM:
                return Description(str(given["topic"]), str(given["descriptor"]), str(given["annex"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise ValueError(f"'{self._path}' is no recording of `mf record`")

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
