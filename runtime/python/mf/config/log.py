"""R6. The log of a program on standard error, in the shapes that C++ has (mf/core/log_output.hpp):

    2026-11-20T19:05:08.123Z warning connection_broken peer=127.0.0.1:4000 code=PROTOCOL_ERROR
    {"time":"2026-11-20T19:05:08.123Z","level":"warning","event":"connection_broken","peer":"127.0.0.1",…}

A line of Python that is a sentence has "message" in place of "event". A traceback follows in lines that begin
with spaces, or is "trace". If standard error is the journal of systemd, <N> with the priority of syslog is
in front.
"""

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Final

from mf.config.keys import FORMATS, LEVELS
from mf.core.log import Line

_NUMBERS: Final = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL + 1)
_LEAST: Final = tuple(zip(LEVELS[:4], _NUMBERS[:4], strict=True))
_PRIORITIES: Final = {"debug": "<7>", "info": "<6>", "warning": "<4>", "error": "<3>"}


class _Formatter(logging.Formatter):
    """One record as one line, and a traceback behind it."""

    def __init__(self, *, as_json: bool, for_journal: bool) -> None:
        super().__init__()
        self._as_json = as_json
        self._for_journal = for_journal

    def format(self, record: logging.LogRecord) -> str:
        level = _level_of(record.levelno)
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        time = time.removesuffix("+00:00") + "Z"
        trace = "".join(traceback.format_exception(record.exc_info[1])) if record.exc_info else ""
        if self._as_json:
            members = {"time": time, "level": level, **_members(record)}
            lines = [json.dumps(members | ({"trace": trace} if trace else {}), separators=(",", ":"))]
        else:
            message = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
            lines = [f"{time} {level} {message}", *(f"  {each}" for each in trace.splitlines())]
        mark = _PRIORITIES[level] if self._for_journal else ""
        return "\n".join(mark + each for each in lines)


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """The one that set_up_log() has made, so that a second call replaces it."""


def set_up_log(level: str = "info", format: str = "text") -> None:  # noqa: A002 - the key is log.format
    """Writes the lines of the logger "mf" to standard error, and no longer to the handlers of other loggers.
    May be called again, for example to change the level while servers run."""
    for key, word, words in (("level", level, LEVELS), ("format", format, FORMATS)):
        if word not in words:
            raise ValueError(f"log.{key} is {word!r}: give one of {', '.join(words)}")
    handler = _Handler(sys.stderr)
    handler.setFormatter(_Formatter(as_json=format == "json", for_journal=_is_journal()))
    logger = logging.getLogger("mf")
    logger.handlers = [handler, *(each for each in logger.handlers if not isinstance(each, _Handler))]
    logger.propagate = False
    logger.setLevel(_NUMBERS[LEVELS.index(level)])


def _level_of(number: int) -> str:
    """The most important level that is not above the number; what is below all is debug."""
    return max((name for name, least in _LEAST if number >= least), key=LEVELS.index, default="debug")


def _members(record: logging.LogRecord) -> dict[str, str]:
    first = record.args[0] if isinstance(record.args, tuple) and record.args else None
    if isinstance(first, Line) and record.msg == "%s":
        return {"event": first.event, **first.fields}
    return {"message": record.getMessage()}


def _is_journal() -> bool:
    """Whether standard error is the journal: JOURNAL_STREAM of systemd has its device and inode."""
    try:
        found = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):  # closed, or replaced by a file of no descriptor
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"
