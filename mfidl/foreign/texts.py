"""F6. What a text in quotes says: the escapes of C, which Thrift and Slice have."""

import re

from mfidl.foreign.scan import Refused, Unwritable
from mfidl.source import Span

_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<four>[0-9a-fA-F]{4})|U(?P<eight>[0-9a-fA-F]{8})"
    r"|(?P<splice>\r?\n)|(?P<plain>.))",
    re.DOTALL,
)
_PLAIN = {"n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, '"': 34, "'": 39, "?": 63}
_LAST = 0x10FFFF


def text_in_quotes(text: str, span: Span, *, keep_unknown: bool = False) -> str:
    """An unknown escape is refused, or stays as it is; one that lacks its digits is always refused."""
    try:
        return bytes_in_quotes(text, span, keep_unknown=keep_unknown).decode("utf-8")
    except UnicodeDecodeError:
        raise Unwritable(span, "the bytes of this text are no UTF-8") from None


def bytes_in_quotes(text: str, span: Span, *, keep_unknown: bool = False) -> bytes:
    """As UTF-8, with the bytes that octal and hexadecimal digits give."""
    inner = text[1:-1]
    made, at = bytearray(), 0
    for found in _ESCAPE.finditer(inner):
        made += inner[at : found.start()].encode("utf-8", "surrogatepass")
        place = Span(span.file, span.start + 1 + found.start(), span.start + 1 + found.end())
        made += _escaped(found, place, keep_unknown)
        at = found.end()
    return bytes(made + inner[at:].encode("utf-8", "surrogatepass"))


def _escaped(found: re.Match[str], span: Span, keep_unknown: bool) -> bytes:
    if found["splice"] is not None:
        return b""
    if found["octal"] is not None or found["hex"] is not None:
        value = int(found["octal"], 8) if found["octal"] is not None else int(found["hex"], 16)
        if value > 255:
            raise Refused(span, f"`{found[0]}` is more than a byte")
        return bytes((value,))
    if found["four"] is not None or found["eight"] is not None:
        value = int(found["four"] or found["eight"], 16)
        if 0xD800 <= value < 0xE000 or value > _LAST:
            raise Refused(span, f"`{found[0]}` is no character")
        return chr(value).encode("utf-8")
    plain = found["plain"]
    if plain in _PLAIN:
        return bytes((_PLAIN[plain],))
    if plain in "xuU" or not keep_unknown:
        raise Refused(span, f"`{found[0]}` is no escape")
    return found[0].encode("utf-8", "surrogatepass")
