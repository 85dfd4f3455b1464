"""F2. The values of number and string tokens."""

from mfidl.diagnostics import Diagnostics
from mfidl.source import Span
from mfidl.syntax import ast
from mfidl.syntax import token_types as tt

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "min": 60 * 10**9,
    "s": 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", '"': b'"'}
# More digits than any type can hold: the exact value no longer matters, only that it does not fit.
_DIGITS_LIMIT = 100
_BEYOND_ALL: int = 10**_DIGITS_LIMIT


def integer(text: str) -> int:
    """The value of an INTEGER or HEX token."""
    text = text.replace("_", "")
    if len(text) > _DIGITS_LIMIT:
        return _BEYOND_ALL
    value: int = int(text, 16) if text[:2] in ("0x", "0X") else int(text)
    return value


def number(ttype: int, text: str, negative: bool, span: Span) -> ast.Expr:
    """A number token, with the minus before it."""
    sign = -1 if negative else 1
    if ttype in (tt.INTEGER, tt.HEX):
        return ast.IntLiteral(sign * integer(text), span)
    if ttype == tt.FLOAT:
        return ast.FloatLiteral(sign * float(text.replace("_", "")), span)
    if ttype == tt.DURATION:
        for unit, nanoseconds in _UNITS.items():
            if text.endswith(unit):
                return ast.DurationLiteral(sign * integer(text.removesuffix(unit)) * nanoseconds, span)
    return ast.BrokenExpr(span)


def string(text: str, span: Span, diagnostics: Diagnostics) -> ast.Expr:
    """A STRING token with its quotes; an invalid escape is reported at its place."""
    pieces: list[bytes] = []
    at, end, sound = 1, len(text) - 1, True
    while at < end:
        backslash = text.find("\\", at, end)
        stop = end if backslash < 0 else backslash
        pieces.append(text[at:stop].encode("utf-8", "surrogatepass"))
        at = stop
        if at < end:
            length, data = _escape(text, at, end)
            if data is None:
                wrong = Span(span.file, span.start + at, span.start + at + length)
                advice = _advice(text, at)
                diagnostics.error("E0107", wrong, help=advice, escape=text[at : at + length])
                sound = False
            else:
                pieces.append(data)
            at += length
    return ast.StringLiteral(b"".join(pieces), span) if sound else ast.BrokenExpr(span)


def _escape(text: str, at: int, end: int) -> tuple[int, bytes | None]:
    """Length and bytes of the escape at `at`; None for bytes when there is no such escape."""
    kind = text[at + 1]
    if kind in _ESCAPES:
        return 2, _ESCAPES[kind]
    if kind == "x":
        digits = text[at + 2 : min(at + 4, end)]
        return 2 + len(digits), bytes([int(digits, 16)]) if len(digits) == 2 and _is_hex(digits) else None
    if kind == "u" and text[at + 2 : at + 3] == "{":
        close = text.find("}", at, end)
        digits = text[at + 3 : close] if close > 0 else ""
        if 1 <= len(digits) <= 6 and _is_hex(digits):
            point = int(digits, 16)
            if point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
                return close + 1 - at, chr(point).encode()
        return (close + 1 - at) if close > 0 else 3, None
    return 2, None


def _advice(text: str, at: int) -> str:
    """What to write for an escape of another language."""
    kind = text[at + 1]
    if kind in "eE":
        return "write `\\x1b`"
    if kind in "01234567":
        return "write the character by its number in hexadecimal: `\\x41`"
    if kind in "uU":
        return "write `\\u{e9}`, with the number of a character in braces, up to 10ffff"
    if kind == "x":
        return "write two hexadecimal digits: `\\x0a`"
    if kind in "'`$?/{}%":
        return f"write `{kind}`: it needs no backslash"
    return "a backslash itself is written `\\\\`"


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdefABCDEF" for c in text)
