"""R2. The difference of two descriptors in words (docs/protocol.md, section 7): the same words as the C++
runtime's.

The cases that both must pass are in tests/vectors/descriptor_diff.json. The other text comes from a peer:
anything is read, and what is no line of a descriptor is passed over.
"""

import re
from collections.abc import Iterable

MOST_SENTENCES = 8
_MOST_LINES = 100_000
_NAME = re.compile(r"[A-Za-z0-9_.]+")

Members = dict[str, str]
"""Name to type expression, or enum value to number, in order."""


class _Method:
    __slots__ = (
        "oneway",
        "params",
        "params_stream",
        "params_tier",
        "replicated",
        "results",
        "results_stream",
        "results_tier",
        "throws",
    )

    def __init__(self) -> None:
        self.oneway = False
        self.params_tier = ""
        self.params: Members = {}
        self.params_stream = "none"
        self.results_tier = ""
        self.results: Members = {}
        self.results_stream = "none"
        self.replicated = "not replicated"
        self.throws: Members = {}


class _Type:
    __slots__ = ("head", "members")

    def __init__(self, head: str) -> None:
        self.head = head
        self.members: Members = {}

    @property
    def member(self) -> str:
        """What its members are called; types with another word cannot be compared by them."""
        return _MEMBERS_OF.get(self.head.partition(" ")[0], "field")

    @property
    def numbered(self) -> bool:
        """Whether members are found by their numbers: then their order means nothing."""
        return self.member == "alternative" or self.head.endswith(" archive")


_MEMBERS_OF = {"enum": "value", "flags": "bit", "union": "alternative"}


class _Tree:
    """A descriptor by its lines."""

    __slots__ = ("_members", "_method", "_type", "methods", "per", "service", "types", "value")

    def __init__(self, text: str) -> None:
        self.service = ""
        self.per = "nothing"
        self.value = ""
        self.methods: dict[str, _Method] = {}
        self.types: dict[str, _Type] = {}
        self._type: _Type | None = None
        self._method: _Method | None = None
        self._members: Members | None = None
        self._read(text)

    def _read(self, text: str) -> None:
        for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
            stripped = line.lstrip(" ")
            word, _, rest = stripped.partition(" ")
            depth = len(line) - len(stripped)
            if not stripped:
                continue
            if depth == 0:
                self._top(word, rest)
            elif depth == 1:
                self._in_top(word, rest)
            elif depth == 2:
                self._in_method(word, rest)
            elif self._members is not None:
                self._members[word] = rest

    def _top(self, word: str, rest: str) -> None:
        self._type = self._method = self._members = None
        if word in ("service", "topic"):
            self.service = rest
        elif word == "type":
            name, _, head = rest.partition(" ")
            self._type = self.types[name] = _Type(head)

    def _in_top(self, word: str, rest: str) -> None:
        self._members = None
        if self._type is not None:
            self._type.members[word] = rest
        elif word == "per":
            self.per = rest
        elif word == "value":
            self.value = rest
        elif word == "method":
            self._method = self.methods[rest] = _Method()

    def _in_method(self, word: str, rest: str) -> None:
        self._members = None
        method = self._method
        if method is None:
            return
        if word == "oneway":
            method.oneway = True
        elif word == "params":
            method.params_tier = rest
            self._members = method.params
        elif word == "results":
            method.results_tier = rest
            self._members = method.results
        elif word == "params_stream":
            method.params_stream = rest
        elif word == "results_stream":
            method.results_stream = rest
        elif word == "replicated":
            method.replicated = f"replicated {rest}"
        elif word == "throws":
            method.throws[rest] = ""


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _short_expression(expression: str) -> str:
    return _NAME.sub(lambda match: _short(match.group()), expression)


class _Comparison:
    __slots__ = ("_here", "_seen", "_sentences", "_service", "_there")

    def __init__(self, here: _Tree, there: _Tree) -> None:
        self._here = here
        self._there = there
        self._service = _short(here.service or there.service)
        self._seen: set[str] = set()
        self._sentences: list[str] = []

    def words(self) -> str:
        here, there = self._here, self._there
        if here.per != there.per:
            ours, theirs = _short_expression(here.per), _short_expression(there.per)
            self._say(self._service, f"per {ours} here, per {theirs} there")
        if here.value != there.value:
            ours, theirs = _short_expression(here.value), _short_expression(there.value)
            self._say(self._service, f"value {ours or 'none'} here, {theirs or 'none'} there")
        self._compare_reached(self._service, (here.value,))
        for name, method in here.methods.items():
            place = f"{self._service}.{name}"
            if name in there.methods:
                self._compare_methods(place, method, there.methods[name])
            else:
                self._say(place, "method only here")
        for name in there.methods:
            if name not in here.methods:
                self._say(f"{self._service}.{name}", "method only there")
        return "; ".join(self._sentences[:MOST_SENTENCES])

    def _say(self, place: str, what: str) -> None:
        self._sentences.append(f"{place}: {what}")

    def _compare_methods(self, place: str, ours: _Method, theirs: _Method) -> None:
        if ours.oneway != theirs.oneway:
            self._say(place, "one-way here, not there" if ours.oneway else "one-way there, not here")
        if ours.replicated != theirs.replicated:
            self._say(place, f"{ours.replicated} here, {theirs.replicated} there")
        self._compare_tiers(place, "parameters", ours.params_tier, theirs.params_tier)
        self._compare_members(place, "parameter ", ours.params, theirs.params)
        self._compare_streams(place, "parameter", ours.params_stream, theirs.params_stream)
        if ours.oneway == theirs.oneway:
            self._compare_tiers(place, "results", ours.results_tier, theirs.results_tier)
            self._compare_members(place, "result ", ours.results, theirs.results)
            self._compare_streams(place, "result", ours.results_stream, theirs.results_stream)
        self._compare_members(place, "throws ", ours.throws, theirs.throws)
        self._compare_types(place, ours)

    def _compare_tiers(self, place: str, what: str, ours: str, theirs: str) -> None:
        if ours != theirs:
            self._say(place, f"{what}: {ours} here, {theirs} there")

    def _compare_streams(self, place: str, what: str, ours: str, theirs: str) -> None:
        if ours != theirs:
            here, there = _short_expression(ours), _short_expression(theirs)
            self._say(place, f"{what} stream: {here} here, {there} there")

    def _compare_members(
        self, place: str, what: str, ours: Members, theirs: Members, ordered: bool = True
    ) -> None:
        for name, value in ours.items():
            if name not in theirs:
                self._say(place, f"{what}{_short(name)}: only here")
            elif value != theirs[name]:
                here, there = _short_expression(value), _short_expression(theirs[name])
                self._say(place, f"{what}{_short(name)}: {here} here, {there} there")
        for name in theirs:
            if name not in ours:
                self._say(place, f"{what}{_short(name)}: only there")
        if ordered and ours.keys() == theirs.keys():
            self._compare_order(place, what, list(ours), list(theirs))

    def _compare_order(self, place: str, what: str, ours: list[str], theirs: list[str]) -> None:
        for at, (name, other) in enumerate(zip(ours, theirs, strict=True)):
            if name != other:
                there = theirs.index(name) + 1
                self._say(place, f"{what}{_short(name)}: position {at + 1} here, {there} there")
                return

    def _compare_types(self, place: str, method: _Method) -> None:
        """Types that the method reaches, in order of first mention, each once in all."""
        of_results = (*method.results.values(), method.results_stream)
        of_params = (*method.params.values(), method.params_stream)
        self._compare_reached(place, (*of_params, *of_results, *method.throws))

    def _compare_reached(self, place: str, expressions: Iterable[str]) -> None:
        reached: list[str] = []
        self._mention(reached, expressions)
        for name in reached:  # grows while it is walked
            ours = self._here.types[name]
            self._mention(reached, ours.members.values())
            theirs = self._there.types.get(name)
            if theirs is not None:
                self._compare_type(place, _short(name), ours, theirs)

    def _mention(self, reached: list[str], expressions: Iterable[str]) -> None:
        for expression in expressions:
            for name in _NAME.findall(expression):
                if name in self._here.types and name not in self._seen:
                    self._seen.add(name)
                    reached.append(name)

    def _compare_type(self, place: str, name: str, ours: _Type, theirs: _Type) -> None:
        if ours.head != theirs.head:
            self._say(place, f"type {name}: {ours.head} here, {theirs.head} there")
        if ours.member != theirs.member or ours.numbered != theirs.numbered:
            return
        ordered = ours.member == "field" and not ours.numbered
        self._compare_members(place, f"{ours.member} {name}.", ours.members, theirs.members, ordered)


def difference(here: str, there: str) -> str:
    """At most 8 sentences, "; " between them; empty if the texts are equal."""
    if here == there:
        return ""
    ours = _Tree(here)
    words = _Comparison(ours, _Tree(there)).words()
    # What has no sentence of its own: the order of methods, or of members that have numbers.
    return words or f"{_short(ours.service)}: the descriptors differ in the order of their lines"
