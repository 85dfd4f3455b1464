"""R3. The claims of a token: a JSON object whose members are texts. Other members are refused, since a claim
that is not understood could be a restriction.

    object = ws "{" ws member *(ws "," ws member) ws "}" ws
    member = text ws ":" ws text                         (texts, ws and escapes are those of RFC 8259)
"""

import re
from calendar import timegm
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from json import loads

MOST = 255
"""`sub`, `aud` and `iss` have at most so many bytes."""
_NAMES = ("sub", "aud", "exp", "nbf", "iat", "iss", "jti")
_BLANKS = re.compile(r"[ \t\n\r]*")
_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?"
    r"(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_LAST = timegm((9999, 12, 31, 0, 0, 0))


class TokenFault(Enum):
    """Why a token is refused, in the order of the checks; the values are the names in C++ and in vectors."""

    OVERSIZED = "oversized"
    VERSION = "version"
    FORM = "form"
    ENCODING = "encoding"
    UNKNOWN_KEY = "unknown_key"
    SIGNATURE = "signature"
    TEXT = "text"
    CLAIMS = "claims"
    DUPLICATE = "duplicate"
    AUDIENCE = "audience"
    NOT_YET_VALID = "not_yet_valid"
    EXPIRED = "expired"


class TokenError(ValueError):
    """A token is refused; no text of the token is in the message."""

    def __init__(self, fault: TokenFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenClaims:
    """What a token says. `subject`: the identity of the bearer; `audience`: the service that it is for;
    `expires`, `not_before` and `issued`: seconds since 1970; `issuer`: empty if not given; `key_id`: of the
    key that has signed it."""

    subject: str
    audience: str
    expires: int
    not_before: int | None = None
    issued: int | None = None
    issuer: str = ""
    key_id: str = ""


def read_claims(data: bytes) -> TokenClaims:
    """Raises TokenError. Time and audience are not checked."""
    members = _Parser(_decoded(data)).read()
    for name in ("sub", "aud", "iss"):
        value = members.get(name)
        if name == "iss" and value is None:
            continue
        if value is None or not _is_name(value):
            text = f"missing, empty, longer than {MOST} bytes, or has control characters"
            raise TokenError(TokenFault.CLAIMS, f"the token's {name} is {text}")
    expires = _time(members, "exp")
    if expires is None:
        raise _no_time()
    return TokenClaims(
        subject=members["sub"],
        audience=members["aud"],
        expires=expires,
        not_before=_time(members, "nbf"),
        issued=_time(members, "iat"),
        issuer=members.get("iss", ""),
    )


def write_claims(claims: TokenClaims) -> bytes:
    """The claims as JSON, to be signed. Raises ValueError for claims that would not be accepted."""
    for value in (claims.subject, claims.audience, claims.issuer or "none"):
        if not _is_name(value):
            text = f"1 to {MOST} bytes of UTF-8 without control characters"
            raise ValueError(f"sub, aud and iss of a token have {text}")
    members = {"sub": claims.subject, "aud": claims.audience}
    for name, time in (("exp", claims.expires), ("nbf", claims.not_before), ("iat", claims.issued)):
        if time is None:
            continue
        if not 0 <= time < _LAST:
            raise ValueError("times of a token are from 1970 until 9999")
        members[name] = time_in_words(time)
    if claims.issuer:
        members["iss"] = claims.issuer
    return ("{" + ",".join(f'"{name}":{_quoted(value)}' for name, value in members.items()) + "}").encode()


def time_in_words(time: int) -> str:
    """'2026-11-29T04:05:06Z'"""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Parser:
    def __init__(self, json: str) -> None:
        self._json = json
        self._at = 0

    def read(self) -> dict[str, str]:
        members: dict[str, str] = {}
        self._skip_blanks()
        self._expect("{")
        while True:
            self._member(members)
            self._skip_blanks()
            if not self._skip(","):
                break
        self._expect("}")
        self._skip_blanks()
        if self._at != len(self._json):
            raise _malformed()
        return members

    def _member(self, members: dict[str, str]) -> None:
        self._skip_blanks()
        name = self._text()
        if name not in _NAMES:
            raise TokenError(TokenFault.CLAIMS, f"the token has a claim other than {', '.join(_NAMES)}")
        if name in members:
            raise TokenError(TokenFault.DUPLICATE, f"the token gives its {name} twice")
        self._skip_blanks()
        self._expect(":")
        self._skip_blanks()
        members[name] = self._text()

    def _text(self) -> str:
        found = _TEXT.match(self._json, self._at)
        if found is None:
            raise _malformed()
        self._at = found.end()
        text: str = loads(found[0])
        if not _is_utf8(text):
            raise _no_utf8()
        return text

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self._json, self._at)
        assert blanks is not None
        self._at = blanks.end()

    def _skip(self, wanted: str) -> bool:
        found = self._json.startswith(wanted, self._at)
        self._at += found
        return found

    def _expect(self, wanted: str) -> None:
        if not self._skip(wanted):
            raise _malformed()


def _time(members: dict[str, str], name: str) -> int | None:
    text = members.get(name)
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    try:
        parts = [int(each) for each in found.groups()[:6]] if found else []
        date(*parts[:3])
    except (TypeError, ValueError):
        raise _no_time() from None
    assert found is not None
    sign, hours, minutes = found.groups()[6:]
    offset = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1) if sign else 0
    return timegm((*parts,)) - offset


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _no_utf8() from None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_name(text: str) -> bool:
    return _is_utf8(text) and 1 <= len(text.encode()) <= MOST and not _CONTROL.search(text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _malformed() -> TokenError:
    return TokenError(TokenFault.CLAIMS, "the claims of the token are no JSON object of texts")


def _no_time() -> TokenError:
    return TokenError(TokenFault.CLAIMS, "the token's exp is missing, or its exp, nbf or iat is no time")


def _no_utf8() -> TokenError:
    return TokenError(TokenFault.TEXT, "the claims of the token are not UTF-8")
