"""Names of identities in access files and commands."""

from __future__ import annotations

from collections.abc import Iterable

from mf.core.edit_distance import edit_distance

_WORDS = ("anyone", "authenticated")
_KINDS = ("uid", "dns", "token")  # others are schemes of URIs
_LONGEST_NAME = 2048
_LONGEST_SHOWN = 100
_LONGEST_GUESS = 64
_MOST_USER = 2**32 - 1


def objection_to_name(pattern: str) -> str:
    """Why no peer can have a name that fits this pattern, as a sentence with a suggestion: "'user:1000' is no
    name: …; did you mean 'uid:1000'?". Empty if a peer can have one."""
    kind, colon, rest = pattern.partition(":")
    # A pattern that fits names of any kind would admit more than its author sees.
    if not colon or "*" in kind:
        return _no_name(pattern) + suggestion(pattern, _WORDS)
    if len(pattern) > _LONGEST_NAME or not all("!" <= each <= "~" for each in pattern):
        most = f"a name has at most {_LONGEST_NAME} printable characters of ASCII"
        return f"{quoted(pattern)} is no name: {most}"
    if kind == "uid":
        return _objection_to_user(pattern, rest)
    lower = kind.lower()
    if kind not in _KINDS and lower in _KINDS:  # no identity has such a name, whatever follows
        return _no_name(pattern) + did_you_mean(f"{lower}:{rest}")
    if rest if kind in _KINDS else kind and rest.startswith("//"):
        return ""
    if lower == "user" and rest:
        return _no_name(pattern) + did_you_mean(f"uid:{rest}")
    if kind and kind not in _KINDS and rest.startswith("/"):
        return _no_name(pattern) + did_you_mean(f"{kind}:/{rest}")
    return _no_name(pattern)


def number(digits: str, most: int) -> int | None:
    """The number that the digits are; None for other characters, and if it is larger than `most`."""
    if not digits.isascii() or not digits.isdecimal():
        return None
    value = int(digits) if len(digits) <= len(str(most)) + 20 else most + 1
    return value if value <= most else None


def quoted(word: str) -> str:
    return f"'{word if len(word) <= _LONGEST_SHOWN else word[:_LONGEST_SHOWN] + '…'}'"


def did_you_mean(word: str) -> str:
    return f"; did you mean {quoted(word)}?"


def suggestion(word: str, names: Iterable[str]) -> str:
    """`; did you mean 'register'?`; empty if no name is near."""
    if len(word) > _LONGEST_GUESS:
        return ""
    nearest, least = "", len(word.encode()) // 2 + 1
    for name in names:
        found = edit_distance(word, name)
        if found < least:
            nearest, least = name, found
    return did_you_mean(nearest) if nearest else ""


def _no_name(pattern: str) -> str:
    return (
        f"{quoted(pattern)} is no name: anyone, authenticated, @group, uid:1000, dns:host.example, "
        "token:name, or a URI such as spiffe://example.org/search"
    )


def _objection_to_user(pattern: str, digits: str) -> str:
    user = number(digits, _MOST_USER)
    if digits in ("*", str(user)):
        return ""
    meant = "" if user is None else did_you_mean(f"uid:{user}")
    return f"a user is written as a number: uid:1000, not {quoted(pattern)}{meant}"
