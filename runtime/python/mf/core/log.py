"""R0. One logger, "mf". `logging` is imported when the first line is written, since most programs write none.

Nothing here runs for each message. Names and texts of a peer are untrusted: use `quote`.
"""

from typing import Any

_MAX_QUOTED = 200


def quote(text: str | bytes) -> str:
    """Text of a peer as a harmless, bounded part of a log line: escaped, and cut with the full length
    named."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    shown = ascii(text[:_MAX_QUOTED])
    return shown if len(text) <= _MAX_QUOTED else f"{shown}… ({len(text)} characters)"


def warning(message: str, *arguments: Any) -> None:
    import logging

    logging.getLogger("mf").warning(message, *arguments)


def error(message: str, *arguments: Any, exc_info: BaseException | None = None) -> None:
    import logging

    logging.getLogger("mf").error(message, *arguments, exc_info=exc_info)


def info(message: str, *arguments: Any) -> None:
    import logging

    logging.getLogger("mf").info(message, *arguments)


def log_handler_failure(where: str, raised: BaseException) -> None:
    """Logs the traceback here; the caller gets only type and text."""
    import logging

    logging.getLogger("mf").error("%s failed", where, exc_info=raised)
