"""Recordings of a topic: lines of JSON. The first says what the topic is, each further one a message:

    {"mf_recording": 1, "topic": NAME, "descriptor": TEXT, "annex": TEXT, "begun": TIME}
    {"t": SECONDS since the first message, "agent": NAME, "value": JSON}

A last line that was cut (a full disk, a crash) is left out when it is read.
"""

import json
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from mf_tools.connect import MOST_INPUT
from mf_tools.guard import FILES, CommandError

if TYPE_CHECKING:
    from mf.described import Description

_FORM = 1


def head(found: "Description", begun: str) -> dict[str, Any]:
    return {
        "mf_recording": _FORM,
        "topic": found.name,
        "descriptor": found.descriptor,
        "annex": found.annex,
        "begun": begun,
    }


def read_head(file: IO[bytes], path: str) -> "Description":
    from mf.described import Description

    try:
        given = json.loads(file.readline(MOST_INPUT))
        if given["mf_recording"] == _FORM:
            return Description(str(given["topic"]), str(given["descriptor"]), str(given["annex"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CommandError(f"'{path}' is no recording of `mf record`", FILES)


def messages(file: IO[bytes], path: str) -> Iterator[tuple[float, str, str]]:
    """Time, agent, and value as JSON."""
    number = 1
    while data := file.readline(MOST_INPUT):
        number += 1
        try:
            given = json.loads(data)
            yield float(given["t"]), str(given["agent"]), json.dumps(given["value"])
        except (ValueError, KeyError, TypeError, RecursionError):
            if not data.endswith(b"\n") and not file.readline(1):
                return  # it was cut
            raise CommandError(f"'{path}': line {number} is no message", FILES) from None
