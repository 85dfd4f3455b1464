"""Reads access files (mf/access/rules.py has their grammar)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mf.access.names import did_you_mean, number, objection_to_name, quoted, suggestion
from mf.access.rules import Action, Rule, Rules, Where, Who, has_dots
from mf.core.error import Code, Error, Execution
from mf.core.files import objection_to
from mf.core.weight import MOST_WEIGHT

_MOST_MISTAKES = 20
_MOST_RULES = 100_000
_LAST_PORT = 65535
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SCHEMES = ("tcp", "tls", "unix")
_WITH_AGENTS = (Action.REGISTER, Action.CALL, Action.LEAD, Action.PUBLISH, Action.SUBSCRIBE)
_ALONE = (Action.LIST, Action.ADMINISTER, Action.RELAY)
_WORD = re.compile(r"[^ \t\r]+")
_HOST = re.compile(r"[A-Za-z0-9._*\[\]:%-]*")


class _MistakeError(Exception):
    """What is wrong with a line."""


def parse_rules(text: bytes, name: str) -> Rules:
    """The rules of an access file. Raises Error with INVALID_ARGUMENT, which names every mistake (at most
    twenty) as `name:line: sentence`, each in a line of its own."""
    mistakes: list[str] = []
    lines = text.removeprefix(_BYTE_ORDER_MARK).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    parser = _Parser(lines)
    for at, line in enumerate(lines, 1):
        try:
            parser.line(line, at)
        except _MistakeError as mistake:
            mistakes.append(f"{name}:{at}: {mistake}")
    if mistakes:
        more = len(mistakes) - _MOST_MISTAKES
        shown = mistakes[:_MOST_MISTAKES] + ([f"{name}: and {more} more"] if more > 0 else [])
        raise Error(Code.INVALID_ARGUMENT, "\n".join(shown), Execution.NOT_EXECUTED)
    return Rules(parser.rules)


def load_rules(path: str | Path) -> Rules:
    """The rules of the access file at `path`; a file that cannot be read is INVALID_ARGUMENT, too."""
    try:
        # O_NONBLOCK: a pipe in its place must not hold up the program.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if why := objection_to(os.fstat(descriptor), for_all=True):
                raise _refused(path, f"used: {why}")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                text = file.read()
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refused(path, f"read: {error.strerror}") from None
    return parse_rules(text, str(path))


def _refused(path: str | Path, why: str) -> Error:
    words = f"the access file {path} cannot be {why}"
    return Error(Code.INVALID_ARGUMENT, words, Execution.NOT_EXECUTED)


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
    """`lines`: of the whole file."""

    def __init__(self, lines: list[bytes]) -> None:
        self.rules: list[Rule] = []
        self._line = 0
        self._all_groups: dict[str, int] = {}
        """Of the file, with their first lines."""
        for at, line in enumerate(lines, 1):
            words = _Words(line.decode(errors="replace")) if line.lstrip().startswith(b"group") else None
            if words and words.next() == "group":
                self._all_groups.setdefault(words.next(), at)
        self._groups: dict[str, tuple[Who, ...]] = {}

    def line(self, line: bytes, at: int) -> None:
        self._line = at
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise _MistakeError("the line is not UTF-8") from None
        if "\0" in text:
            raise _MistakeError("the line holds a NUL character")
        words = _Words(text)
        if words:
            self._statement(words)

    def _statement(self, words: _Words) -> None:
        kind = words.next()
        if kind == "group":
            self._group(words)
            return
        if kind not in ("allow", "deny"):
            nearest = suggestion(kind, ("allow", "deny", "group"))
            raise _MistakeError(f"a line begins with allow, deny or group, not with {quoted(kind)}{nearest}")
        if len(self.rules) == _MOST_RULES:
            raise _MistakeError(f"there are more than {_MOST_RULES} lines")
        if not words:
            raise _MistakeError("it names no identity: anyone, authenticated, @group or a name")
        whos = self._members(words.next())
        self.rules.append(_rule(kind == "allow", whos, _action(words), words, self._line))

    def _group(self, words: _Words) -> None:
        name = words.next()
        if not name or words.next() != "=":
            raise _MistakeError("a group is written: group name = identity, identity")
        if name in self._groups:
            raise _MistakeError(f"there is a group {quoted(name)} already")
        whos: list[Who] = []
        for member in words.rest().split(","):
            if len(member.split()) != 1:
                text = "the members of a group are separated by commas: group name = identity, identity"
                raise _MistakeError(text)
            whos += self._members(member.strip())
        self._groups[name] = tuple(whos)

    def _members(self, word: str) -> tuple[Who, ...]:
        if word in ("anyone", "authenticated"):
            return (Who("*", word == "authenticated"),)
        if word.startswith("@"):
            return self._group_of(word[1:])
        if why := objection_to_name(word):
            raise _MistakeError(why)
        # Names of hosts have no case, and identities have them in lower case.
        return (Who(_lower(word) if word.startswith("dns:") else word),)

    def _group_of(self, name: str) -> tuple[Who, ...]:
        if name in self._groups:
            return self._groups[name]
        no_group = f"there is no group {quoted(name)} above"
        below = self._all_groups.get(name, 0)
        if below > self._line:
            raise _MistakeError(f"{no_group}: it is defined below, in line {below}")
        raise _MistakeError(no_group + suggestion(name, sorted(self._groups)))


def _action(words: _Words) -> Action:
    word = words.next()
    if not word:
        raise _MistakeError("it does not say what is allowed or denied, for instance: call *")
    try:
        return Action(word)
    except ValueError:
        nearest = suggestion(word, [each.value for each in Action])
        raise _MistakeError(f"{quoted(word)} is no action{nearest}") from None


def _rule(allows: bool, whos: tuple[Who, ...], action: Action, words: _Words, line: int) -> Rule:
    thing = "*" if action in _ALONE else words.next()
    if not thing:
        raise _MistakeError(f"it does not say what '{action.value}' is about, for instance *")
    if action is Action.CALL:
        _check_method(thing)
    agent, where, weight = "*", None, None
    before: set[str] = set()
    while words:
        word, value = words.next(), words.next()
        if word in before:
            raise _MistakeError(f"{quoted(word)} is given twice; a line has one")
        before.add(word)
        if word == "per" and action in _WITH_AGENTS:
            if not value:
                raise _MistakeError("'per' is followed by an agent, for instance: per books*")
            agent = value
        elif word == "at" and action is Action.REGISTER:
            where = _where(value)
        elif word == "weight" and action is Action.REGISTER:
            weight = number(value, MOST_WEIGHT)
            if not weight:
                raise _MistakeError(
                    f"'weight' is followed by a number from 1 to {MOST_WEIGHT}, not by {quoted(value)}"
                )
        else:
            raise _MistakeError(f"{quoted(word)} is not expected here; {_expected(action)}")
    return Rule(allows, whos, action, line, thing, agent, where, weight)


def _check_method(thing: str) -> None:
    """What is called is a service and its method. Services are written like Greeter, and modules and methods
    like greet: so the method is missing in hello.Greeter."""
    if "*" in thing:
        return
    above, _, last = thing.rpartition(".")
    service = above.rpartition(".")[2]
    if above and last and not ("A" <= last[0] <= "Z" and not "A" <= service[:1] <= "Z"):
        return
    meant = did_you_mean(f"{thing}*" if thing.endswith(".") else f"{thing}.*")
    raise _MistakeError(f"{quoted(thing)} names no method{meant}")


def _expected(action: Action) -> str:
    name = f"behind '{action.value}' "
    if action is Action.REGISTER:
        return name + "stand a service, and then per, at and weight"
    if action in _WITH_AGENTS:
        return name + "stand an object, and then per with an agent"
    if action in _ALONE:
        return name + "the line ends"
    return name + "comes an object, and the line ends"


def _where(text: str) -> Where:
    def wrong(what: str) -> _MistakeError:
        example = "for instance tls://*.example:7000-7999 or unix:///run/search/*"
        return _MistakeError(f"{quoted(text)} is no place: {what}; {example}")

    scheme, slashes, authority = text.partition("://")
    if not slashes:
        raise wrong("it has no scheme")
    if scheme not in _SCHEMES:
        raise wrong("servers are found at tcp, tls or unix")
    if not authority:
        raise wrong("it has no host")
    if scheme == "unix":
        if has_dots(authority):
            raise wrong("its path has a part that is '.' or '..'")
        return Where(scheme, authority)
    host, colon, ports = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        raise wrong("it has no port")
    if not _HOST.fullmatch(host):
        raise wrong("no host has such characters")
    if ports == "*":
        return Where(scheme, host)
    one, dash, other = ports.partition("-")
    first = number(one, _LAST_PORT)
    last = number(other, _LAST_PORT) if dash else first
    if first is None or last is None or first > last:
        raise wrong("its ports are no port, no range and no *")
    return Where(scheme, host, first, last)


def _lower(text: str) -> str:
    """Of ASCII alone: no other character may become one of a host's name."""
    return text.encode().lower().decode()
