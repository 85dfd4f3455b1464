"""Reads access files (mf/access/rules.py has their grammar)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from mf.access.rules import Action, Rule, Rules, Where, Who
from mf.core.edit_distance import edit_distance
from mf.core.error import Code, Error, Execution
from mf.core.weight import MOST_WEIGHT

_MOST_MISTAKES = 20
_MOST_RULES = 100_000
_LONGEST_NAME = 100
_LONGEST_GUESS = 64
_MOST_USER = 2**32 - 1
_LAST_PORT = 65535
_SCHEMES = ("tcp", "tls", "unix")
_KINDS = ("uid", "dns", "token")
_WITH_AGENTS = (Action.REGISTER, Action.CALL, Action.PUBLISH, Action.SUBSCRIBE)
_ALONE = (Action.LIST, Action.ADMINISTER, Action.RELAY)
_WORD = re.compile(r"[^ \t\r]+")
_NO_NAME = (
    " is no name: anyone, authenticated, @group, uid:1000, dns:host.example, token:name, or a URI such as "
    "spiffe://example.org/search"
)


class _MistakeError(Exception):
    """What is wrong with a line."""


def parse_rules(text: bytes, name: str) -> Rules:
    """The rules of an access file. Raises Error with INVALID_ARGUMENT, which names every mistake (at most
    twenty) as `name:line: sentence`, each in a line of its own."""
    parser = _Parser()
    mistakes: list[str] = []
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            parser.line(line, number)
        except _MistakeError as mistake:
            mistakes.append(f"{name}:{number}: {mistake}")
    if mistakes:
        more = len(mistakes) - _MOST_MISTAKES
        shown = mistakes[:_MOST_MISTAKES] + ([f"{name}: and {more} more"] if more > 0 else [])
        raise Error(Code.INVALID_ARGUMENT, "\n".join(shown), Execution.NOT_EXECUTED)
    return Rules(parser.rules)


def load_rules(path: str | Path) -> Rules:
    """The rules of the access file at `path`; a file that cannot be read is INVALID_ARGUMENT, too."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise Error(
            Code.INVALID_ARGUMENT,
            f"the access file {path} cannot be read: {error.strerror}",
            Execution.NOT_EXECUTED,
        ) from None
    return parse_rules(text, str(path))


class _Words:
    """The rest of a line, word by word."""

    def __init__(self, line: str) -> None:
        self._words = [each.group() for each in _WORD.finditer(line)]
        for place, word in enumerate(self._words):
            if word.startswith("#"):
                del self._words[place:]
                break
        self._words.reverse()

    def __bool__(self) -> bool:
        return bool(self._words)

    def next(self) -> str:
        """Empty at the end of the line."""
        return self._words.pop() if self._words else ""

    def rest(self) -> str:
        return " ".join(reversed(self._words))


class _Parser:
    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._groups: dict[str, tuple[Who, ...]] = {}

    def line(self, line: bytes, number: int) -> None:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise _MistakeError("the line is not UTF-8") from None
        if "\0" in text:
            raise _MistakeError("the line holds a NUL character")
        words = _Words(text)
        if words:
            self._statement(words, number)

    def _statement(self, words: _Words, number: int) -> None:
        kind = words.next()
        if kind == "group":
            self._group(words)
            return
        if kind not in ("allow", "deny"):
            nearest = _suggestion(kind, ("allow", "deny", "group"))
            raise _MistakeError(f"a line begins with allow, deny or group, not with {_quoted(kind)}{nearest}")
        if len(self.rules) == _MOST_RULES:
            raise _MistakeError(f"there are more than {_MOST_RULES} lines")
        if not words:
            raise _MistakeError("it does not say who: anyone, authenticated, @group or a name")
        whos = self._members(words.next())
        self.rules.append(_rule(kind == "allow", whos, _action(words), words, number))

    def _group(self, words: _Words) -> None:
        name = words.next()
        if not name or words.next() != "=":
            raise _MistakeError("a group is written: group name = who, who")
        if name in self._groups:
            raise _MistakeError(f"there is a group {_quoted(name)} already")
        whos: list[Who] = []
        for member in words.rest().split(","):
            if len(member.split()) != 1:
                raise _MistakeError("the members of a group are separated by commas: group name = who, who")
            whos += self._members(member.strip())
        self._groups[name] = tuple(whos)

    def _members(self, word: str) -> tuple[Who, ...]:
        if word in ("anyone", "authenticated"):
            return (Who("*", word == "authenticated"),)
        if word.startswith("@"):
            if word[1:] in self._groups:
                return self._groups[word[1:]]
            nearest = _suggestion(word[1:], sorted(self._groups))
            raise _MistakeError(f"there is no group {_quoted(word[1:])} above{nearest}")
        # A pattern that fits names of any kind would admit more than its author sees.
        kind, colon, user = word.partition(":")
        if not colon or "*" in kind:
            raise _MistakeError(_quoted(word) + _NO_NAME + _suggestion(word, ("anyone", "authenticated")))
        if kind not in _KINDS and _lower(kind) in _KINDS:  # no identity has such a name
            raise _MistakeError(f"'{_lower(kind)}:' is written in lower case, not as {_quoted(word)}")
        if kind == "uid" and user != "*" and _number(user, _MOST_USER) is None:
            raise _MistakeError(f"a user is written as a number: uid:1000, not {_quoted(word)}")
        # Names of hosts have no case, and identities have them in lower case.
        return (Who(_lower(word) if kind == "dns" else word),)


def _action(words: _Words) -> Action:
    word = words.next()
    if not word:
        raise _MistakeError("it does not say what is allowed or denied, for instance: call *")
    try:
        return Action(word)
    except ValueError:
        nearest = _suggestion(word, [each.value for each in Action])
        raise _MistakeError(f"{_quoted(word)} is no action{nearest}") from None


def _rule(allows: bool, whos: tuple[Who, ...], action: Action, words: _Words, line: int) -> Rule:
    thing = "*" if action in _ALONE else words.next()
    if not thing:
        raise _MistakeError(f"it does not say what '{action.value}' is about, for instance *")
    agent, where, weight = "*", None, None
    while words:
        word, value = words.next(), words.next()
        if word == "per" and action in _WITH_AGENTS:
            if not value:
                raise _MistakeError("'per' is followed by an agent, for instance: per books*")
            agent = value
        elif word == "at" and action is Action.REGISTER:
            where = _where(value)
        elif word == "weight" and action is Action.REGISTER:
            weight = _number(value, MOST_WEIGHT)
            if not weight:
                raise _MistakeError(
                    f"'weight' is followed by a number from 1 to {MOST_WEIGHT}, not by {_quoted(value)}"
                )
        else:
            raise _MistakeError(f"{_quoted(word)} is not expected here; {_expected(action)}")
    return Rule(allows, whos, action, line, thing, agent, where, weight)


def _expected(action: Action) -> str:
    name = f"behind '{action.value}' "
    if action is Action.REGISTER:
        return name + "stand a service, and then per, at and weight"
    if action in _WITH_AGENTS:
        return name + "stand an object, and then per with an agent"
    if action in _ALONE:
        return name + "the line ends"
    return name + "stands an object, and the line ends"


def _where(text: str) -> Where:
    def wrong(what: str) -> _MistakeError:
        example = "for instance tls://*.example:7000-7999 or unix:///run/search/*"
        return _MistakeError(f"{_quoted(text)} is no place: {what}; {example}")

    scheme, slashes, authority = text.partition("://")
    if not slashes:
        raise wrong("it has no scheme")
    if scheme not in _SCHEMES:
        raise wrong("servers are found at tcp, tls or unix")
    if not authority:
        raise wrong("it has no host")
    if scheme == "unix":
        return Where(scheme, authority)
    host, colon, ports = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        raise wrong("it has no port")
    if ports == "*":
        return Where(scheme, host)
    one, dash, other = ports.partition("-")
    first = _number(one, _LAST_PORT)
    last = _number(other, _LAST_PORT) if dash else first
    if first is None or last is None or first > last:
        raise wrong("its ports are no port, no range and no *")
    return Where(scheme, host, first, last)


def _lower(text: str) -> str:
    """Of ASCII alone: no other character may become one of a host's name."""
    return text.encode().lower().decode()


def _number(digits: str, most: int) -> int | None:
    if not digits.isascii() or not digits.isdecimal():
        return None
    value = int(digits) if len(digits) <= len(str(most)) + 20 else most + 1
    return value if value <= most else None


def _quoted(word: str) -> str:
    return f"'{word if len(word) <= _LONGEST_NAME else word[:_LONGEST_NAME] + '…'}'"


def _suggestion(word: str, names: Iterable[str]) -> str:
    """`; did you mean 'register'?`; empty if no name is near."""
    if len(word) > _LONGEST_GUESS:
        return ""
    nearest, least = "", len(word.encode()) // 2 + 1
    for name in names:
        found = edit_distance(word, name)
        if found < least:
            nearest, least = name, found
    return f"; did you mean '{nearest}'?" if nearest else ""
