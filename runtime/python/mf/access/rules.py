"""Access files: what each identity may do. The first line that fits an identity and what it asks for decides;
what no line fits is denied. A subscription asks for all agents of its pattern, a watch for all names of
its own: a line that allows fits if it covers all of them, a line that denies if it covers any.

    group ops = uid:0, spiffe://example.org/ops/*
    allow @ops                         administer
    allow spiffe://example.org/search  register sf1.search.* per books* at tls://*.example:7000-7999 weight 10
    deny  anyone                       call sf1.search.Index.rebuild
    allow authenticated                call sf1.search.*

    line   = ("allow" | "deny") identity action [object] ["per" agent] ["at" address] ["weight" number]
           | "group" name "=" identity {"," identity}
identity = "anyone" | "authenticated" | "@" group | a pattern of names as Identity.name has them

Objects and agents are patterns (mf/access/glob.py). The object of a call is service and method joined by a
dot; LIST, ADMINISTER and RELAY have none. "at" and "weight" belong to REGISTER: the address at which the
server may be found, with a port or a range of ports, and the largest weight that it may ask for. A path with
a part "." or ".." fits none. A '#' at the start of a word begins a comment.

A file is used only if it belongs to root or to the user of this process, and no other user may write to it.

A set of rules never changes: any number of threads may ask it at once. Reading a file anew makes another.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

from mf.access.glob import glob_matches, globs_overlap, literal_prefix
from mf.core.identity import Identity


class Action(Enum):
    REGISTER = "register"
    CALL = "call"
    LEAD = "lead"
    WATCH = "watch"
    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    SEND = "send"
    REPLICATE = "replicate"
    LIST = "list"
    ADMINISTER = "administer"
    RELAY = "relay"


def has_dots(path: str) -> bool:
    """Whether a part of the path is "." or "..": it may lead out of the folder that it begins with."""
    return not {".", ".."}.isdisjoint(path.split("/"))


@dataclass(frozen=True, slots=True)
class Wish:
    """What an identity asks for: `object` is, for a call, service and method joined by a dot, for a watch a
    pattern; `agent` is empty if the service or topic has none, and of a subscription a pattern; `address`
    ("tls://host:port") and `weight` are a registration's."""

    action: Action
    object: str = ""
    agent: str = ""
    address: str = ""
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """`line` is the one that decided; 0 if no line fits."""

    allowed: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class Who:
    """`authenticated` is any identity; the pattern "*" also fits where there is none."""

    pattern: str
    authenticated: bool = False

    def fits(self, identity: Identity) -> bool:
        if self.authenticated:
            return identity.known
        return glob_matches(self.pattern, identity.name) if identity.known else self.pattern == "*"


@dataclass(frozen=True, slots=True)
class Where:
    scheme: str
    host: str  # a pattern
    first_port: int = 0
    last_port: int = 65535

    def fits(self, address: str) -> bool:
        scheme, _, rest = address.partition(":")
        if scheme != self.scheme:
            return False
        authority = rest.removeprefix("//")
        if scheme == "unix":  # unix:/path is unix:///path, too
            return not has_dots(authority) and glob_matches(self.host, authority)
        host, colon, port = authority.rpartition(":")
        if authority == rest or not colon or not port.isdecimal() or not port.isascii():
            return False
        return self.first_port <= int(port) <= self.last_port and glob_matches(self.host, host)


@dataclass(frozen=True, slots=True)
class Rule:
    allows: bool
    whos: Sequence[Who]
    action: Action
    line: int
    object: str = "*"
    agent: str = "*"
    where: Where | None = None
    weight: int | None = None

    def fits(self, wish: Wish) -> bool:
        """Whether all but the identity fits. A line that denies is not limited by weights: it denies the
        registration whatever it asks for."""
        some_names = wish.action is Action.WATCH and not self.allows
        some_agents = wish.action is Action.SUBSCRIBE and not self.allows
        return (
            (globs_overlap if some_names else glob_matches)(self.object, wish.object)
            and (globs_overlap if some_agents else glob_matches)(self.agent, wish.agent)
            and (self.where is None or self.where.fits(wish.address))
            and (self.weight is None or not self.allows or wish.weight <= self.weight)
        )


T = TypeVar("T")


@dataclass(slots=True)
class _ByPrefix(Generic[T]):
    """Values by the literal prefixes of patterns."""

    of: dict[str, T] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)  # of the prefixes, ascending

    def each(self, text: str, is_pattern: bool = False) -> Iterator[T]:
        """The values whose prefix the text begins with; of a pattern all that may overlap with it."""
        if is_pattern and "*" in text:
            yield from self._overlapping(literal_prefix(text))
            return
        for length in self.lengths:
            if length > len(text):
                return
            found = self.of.get(text[:length])
            if found is not None:
                yield found

    def _overlapping(self, prefix: str) -> Iterator[T]:
        for other, found in self.of.items():
            if other.startswith(prefix) or prefix.startswith(other):
                yield found

    def at(self, pattern: str, new: T) -> T:
        prefix = literal_prefix(pattern)
        if prefix not in self.of:
            if len(prefix) not in self.lengths:
                insort(self.lengths, len(prefix))
            self.of[prefix] = new
        return self.of[prefix]


_ByObject = _ByPrefix[_ByPrefix[list[int]]]


class Rules:
    """Finds the rules that may fit by the prefixes of identity, object and agent."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._index: dict[Action, _ByPrefix[_ByObject]] = {action: _ByPrefix() for action in Action}
        for number, rule in enumerate(self._rules):
            for who in rule.whos:
                objects = self._index[rule.action].at(who.pattern, _ByPrefix())
                places = objects.at(rule.object, _ByPrefix()).at(rule.agent, [])
                if not places or places[-1] != number:
                    places.append(number)

    def __len__(self) -> int:
        """The number of lines that allow or deny something."""
        return len(self._rules)

    def decide(self, identity: Identity, wish: Wish) -> Decision:
        """Whether `identity` may do what it wishes, and by which line."""
        first = len(self._rules)
        names, agents = wish.action is Action.WATCH, wish.action is Action.SUBSCRIBE
        for objects in self._index[wish.action].each(identity.name):
            for under in objects.each(wish.object, names):
                for places in under.each(wish.agent, agents):
                    first = self._first(places, first, identity, wish)
        if first == len(self._rules):
            return Decision()
        return Decision(self._rules[first].allows, self._rules[first].line)

    def _first(self, places: list[int], before: int, identity: Identity, wish: Wish) -> int:
        """The first of the rules that fits, if it comes before the rule `before`."""
        for place in places:
            if place >= before:
                break
            rule = self._rules[place]
            if rule.fits(wish) and any(who.fits(identity) for who in rule.whos):
                return place
        return before
