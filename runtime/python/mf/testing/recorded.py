"""R9. What `mf record` has written, for tests: so a report of a fault becomes one."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

from mf.codec.json import from_json
from mf.described.recordings import RecordedMessage, Recording


def recorded(path: str | PathLike[str], kind: Any) -> Iterator[RecordedMessage]:
    """The messages of a recording, in order, with values of this type: that of the topic as the test's
    generated code has it. Raises OSError, ValueError for what is no recording, DecodeError for a value that
    is none of the type."""
    for seconds, agent, value in Recording(path):
        yield RecordedMessage(seconds, agent, from_json(kind, value))
