"""R0. From values of a type F of one schema to values of a type T of another: whether they can go over, and
how. docs/evolution.md has the rules as users read them.

F is the schema of the writer, T that of the reader. A pair of declared types is looked at once for each
direction, however often it is met, so types that hold or refer to themselves need no more. The verdict of a
pair speaks of what is in it itself; for more, look at all pairs that it reaches.

Words about a difference name what is `here`, at the consumer, and `there`, at the provider
(docs/protocol.md, section 7).
"""

from collections.abc import Iterable
from enum import IntEnum

from mf.evolution.reading import graphs
from mf.evolution.schema import Declared, Field, Method, Schema
from mf.evolution.types import (
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    RefTo,
    Scalar,
    SchemaError,
    SetOf,
    Type,
    spell,
)

MOST_STEPS = 1_000_000
"""Types and members that the comparison of two schemas may look at, for each direction."""


class Verdict(IntEnum):
    EQUAL = 0
    """Both mean the same, and write the same bytes."""
    ADAPTS = 1
    """Every value goes over."""
    CHECKED = 2
    """Some values do not, which is found when they are met."""
    REFUSED = 3
    UNKNOWN_METHOD = 4
    """Only the consumer has the method."""


class How(IntEnum):
    """What becomes of one value."""

    KEEP = 0
    NARROW = 1
    """An integer that must lie between `low` and `high`."""
    ENCODE = 2
    """A string becomes its bytes."""
    DECODE = 3
    """Bytes become a string."""
    LIST = 4
    SET = 5
    MAP = 6
    ARRAY = 7
    OPTIONAL = 8
    PRESENT = 9
    """A value becomes one that may be absent."""
    REQUIRE = 10
    """One that may be absent becomes one that may not; if it is absent, `absent` says what follows."""
    PAIR = 11
    """Of declared types: as their pair says."""
    REF = 12


class Conversion:
    """`inner`: of what is inside. `type`: that of T, for words."""

    __slots__ = ("absent", "high", "how", "inner", "low", "pair", "type", "verdict")

    def __init__(
        self,
        how: How,
        type_: Type,
        verdict: Verdict = Verdict.EQUAL,
        inner: "tuple[Conversion, ...]" = (),
        pair: "Pair | None" = None,
    ) -> None:
        self.how = how
        self.type = type_
        self.verdict: Verdict = max((verdict, *(each.verdict for each in inner)))
        self.inner = inner
        self.pair = pair
        self.low = self.high = 0
        self.absent: Absent | None = None


class Absent:
    """What a field of T has where F gives nothing: its default as JSON, or nothing of its kind."""

    __slots__ = ("default", "type")

    def __init__(self, type_: Type, default: str | None) -> None:
        self.type = type_
        self.default = default


class Source:
    """Where one field of T comes from: field `index` of F by way of `conversion`, or `absent`."""

    __slots__ = ("absent", "conversion", "index")

    def __init__(self, index: int, conversion: Conversion | None, absent: Absent | None = None) -> None:
        self.index = index
        self.conversion = conversion
        self.absent = absent


class Pair:
    """Two declared types. `verdict` and `refusal` are those of this pair, without what it reaches.

    sources     of structs and errors: one for each field of T
    cases       of unions: number of F's alternative -> conversion; a number that is missing cannot go over
    numbers     of enums and flags: number or bit of F -> that of T; None: it cannot go over
    keeps       of enums and flags: whether a number or bit without a name goes over as it is
    """

    __slots__ = (
        "cases",
        "edges",
        "f",
        "is_custom",
        "keeps",
        "lost",
        "numbers",
        "refusal",
        "sources",
        "t",
        "verdict",
    )

    def __init__(self, f: Declared, t: Declared) -> None:
        self.f = f
        self.t = t
        self.verdict = Verdict.EQUAL
        self.refusal: str | None = None
        self.edges: list[Pair] = []
        self.sources: tuple[Source, ...] = ()
        self.cases: dict[int, Conversion] = {}
        self.numbers: dict[int, int | None] = {}
        self.keeps = True
        self.lost: frozenset[int] = frozenset()
        """Numbers of T that mean something else in F: what has no name there cannot become them."""
        self.is_custom = False


def reached(pairs: "Iterable[Pair]") -> "list[Pair]":
    found = dict.fromkeys(pairs)
    order = list(found)
    for pair in order:  # grows while it is walked
        for edge in pair.edges:
            if edge not in found:
                found[edge] = None
                order.append(edge)
    return order


def equal_ones(pairs: "Iterable[Pair]") -> "list[Pair]":
    """Those that are equal with all that they reach. `pairs` holds what each of them reaches."""
    pairs = list(pairs)
    users: dict[Pair, list[Pair]] = {}
    for pair in pairs:
        for edge in pair.edges:
            users.setdefault(edge, []).append(pair)
    other = dict.fromkeys(pair for pair in pairs if pair.verdict is not Verdict.EQUAL)
    order = list(other)
    for pair in order:  # grows while it is walked
        new = [user for user in users.get(pair, ()) if user not in other]
        other.update(dict.fromkeys(new))
        order += new
    return [pair for pair in pairs if pair not in other]


class Refused(Exception):  # noqa: N818 - it is how a look at one place ends, and not a mistake
    """In words, with the place."""


class _NoWay(Exception):  # noqa: N818 - as above
    """No rule joins two types. It says so where their names do not."""


def range_of(scalar: str) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    bits = int(scalar[1:])
    if scalar[0] == "u":
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


class Rules:
    """The rules for one direction. `theirs_is_f`: values come from the provider, so F is what is there."""

    __slots__ = ("_f", "_graphs", "_pairs", "_queue", "_steps", "_t", "_theirs_is_f")

    def __init__(self, f: Schema, t: Schema, *, theirs_is_f: bool) -> None:
        self._f = f
        self._t = t
        self._theirs_is_f = theirs_is_f
        self._pairs: dict[tuple[str, str], Pair] = {}
        self._queue: list[Pair] = []
        self._steps = 0
        self._graphs = graphs(f), graphs(t)

    # Words

    def differ(self, f: str, t: str) -> str:
        here, there = (t, f) if self._theirs_is_f else (f, t)
        return f"{here} here, {there} there"

    def only(self, in_f: bool) -> str:
        """Of something that only one side has."""
        return "only there" if in_f is self._theirs_is_f else "only here"

    def ours(self, f: str, t: str) -> str:
        """The name at the consumer."""
        return t if self._theirs_is_f else f

    # Types

    def convert(self, f: Type, t: Type, place: str) -> Conversion:
        """Raises Refused, with the place."""
        try:
            return self._convert(f, t)
        except _NoWay as why:
            before, after = spell(f), spell(t)
            if before == after:  # the names are alike, and what they stand for is not
                raise Refused(str(why)) from None
            raise Refused(f"{place}: {self.differ(before, after)}") from None

    def _convert(self, f: Type, t: Type) -> Conversion:
        if isinstance(t, OptionalOf):
            if isinstance(f, OptionalOf):
                return Conversion(How.OPTIONAL, t, inner=(self._convert(f.element, t.element),))
            return Conversion(How.PRESENT, t, Verdict.ADAPTS, (self._convert(f, t.element),))
        if isinstance(f, OptionalOf):
            return self._require(self._convert(f.element, t), None)
        match f, t:
            case Scalar(before), Scalar(after):
                made = self._scalar(before, after, t)
                if f != t:  # an integer that is written in another way is the same number
                    made.verdict = max(made.verdict, Verdict.ADAPTS)
                return made
            case Named(before), Named(after):
                return self._named(before, after, t)
            case ListOf(before), ListOf(after):
                return Conversion(How.LIST, t, inner=(self._convert(before, after),))
            case SetOf(before), SetOf(after):
                return Conversion(How.SET, t, inner=(self._convert(before, after),))
            case MapOf(key, value), MapOf(new_key, new_value):
                both = self._convert(key, new_key), self._convert(value, new_value)
                return Conversion(How.MAP, t, inner=both)
            case ArrayOf(before, length), ArrayOf(after, new_length) if length == new_length:
                return Conversion(How.ARRAY, t, inner=(self._convert(before, after),))
            case RefTo(Named(before)), RefTo(Named(after)):
                return Conversion(How.REF, t, pair=self._named(before, after, t).pair)
            case _:
                raise _NoWay("")

    @staticmethod
    def _require(inner: Conversion, default: str | None) -> Conversion:
        absent = absent_value(inner.type, default)
        verdict = Verdict.CHECKED if absent is None else Verdict.ADAPTS
        made = Conversion(How.REQUIRE, inner.type, verdict, (inner,))
        made.absent = absent
        return made

    def _scalar(self, f: str, t: str, type_: Type) -> Conversion:
        if f == t:
            return Conversion(How.KEEP, type_)
        if (f, t) == ("f32", "f64"):
            return Conversion(How.KEEP, type_, Verdict.ADAPTS)
        if (f, t) == ("string", "bytes"):
            return Conversion(How.ENCODE, type_, Verdict.ADAPTS)
        if (f, t) == ("bytes", "string"):
            return Conversion(How.DECODE, type_, Verdict.CHECKED)
        if f[0] == t[0] and f[1:].isdecimal() and t[1:].isdecimal() and f[0] in "ui":
            if int(t[1:]) > int(f[1:]):
                return Conversion(How.KEEP, type_, Verdict.ADAPTS)
            made = Conversion(How.NARROW, type_, Verdict.CHECKED)
            made.low, made.high = range_of(t)
            return made
        raise _NoWay("")

    def _named(self, f: str, t: str, type_: Type) -> Conversion:
        before, after = self._f.types[f], self._t.types[t]
        if kind_of(before) != kind_of(after):
            words = self.differ(kind_of(before), kind_of(after))
            raise _NoWay(f"type {self.ours(before.short, after.short)}: {words}")
        if before.tier == "custom" and f != t:
            raise _NoWay(f"type {self.ours(before.short, after.short)}: {self.differ(f, t)}")
        return Conversion(How.PAIR, type_, pair=self.pair(f, t))

    # Fields

    def sources(
        self,
        f: tuple[Field, ...],
        t: tuple[Field, ...],
        edges: "list[Pair]",
        *,
        by_number: bool,
        word: str,
        owner: str,
    ) -> tuple[tuple[Source, ...], Verdict, str | None]:
        """For each field of T; how well they go over, and the first refusal, with its place. `word`: what
        they are called, `owner`: the prefix of their names."""
        indices = _by_number(f, t) if by_number else partners(names_of(f), names_of(t))
        same = len(f) == len(t) and [each.name for each in f] == [each.name for each in t]
        if by_number:
            same = same and [each.number for each in f] == [each.number for each in t]
        verdict = Verdict.EQUAL if same else Verdict.ADAPTS
        refusal: str | None = None
        found: list[Source] = []
        for field, index in zip(t, indices, strict=True):
            name = field.name if index < 0 else self.ours(f[index].name, field.name)
            place = f"{word} {owner}{name}"
            try:
                source = self._source(f[index] if index >= 0 else None, field, index, place)
            except Refused as why:
                refusal = refusal or str(why)
                continue
            found.append(source)
            if source.conversion is not None:
                verdict = max(verdict, source.conversion.verdict)
                edges += pairs_of(source.conversion)
        if refusal is not None:
            return (), Verdict.REFUSED, refusal
        return tuple(found), verdict, None

    def _source(self, f: Field | None, t: Field, index: int, place: str) -> Source:
        if f is None:
            absent = absent_value(t.type, t.default)
            if absent is None:
                raise Refused(f"{place}: {self.only(in_f=False)}, and has no default")
            return Source(-1, None, absent)
        conversion = self.convert(f.type, t.type, place)
        if conversion.how is How.REQUIRE and t.default is not None:
            conversion = self._require(conversion.inner[0], t.default)
        return Source(index, conversion)

    # Pairs

    def pair(self, f: str, t: str) -> Pair:
        found = self._pairs.get((f, t))
        if found is None:
            found = self._pairs[f, t] = Pair(self._f.types[f], self._t.types[t])
            self._queue.append(found)
        return found

    def settle(self) -> None:
        """Looks at all pairs that have been met, and at those that they meet."""
        while self._queue:
            self._look(self._queue.pop())

    def _look(self, pair: Pair) -> None:
        f, t = pair.f, pair.t
        self._steps += 1 + len(f.fields) + len(t.fields) + len(f.numbers) + len(t.numbers)
        if self._steps > MOST_STEPS:
            raise SchemaError(f"{self._f.short}: its schema there is too large to be compared with")
        if f.kind in ("enum", "flags"):
            _look_at_numbers(pair)
            return
        if f.tier == "custom":
            pair.is_custom = True
            return
        short = self.ours(f.short, t.short)
        refer = f.name in self._graphs[0], t.name in self._graphs[1]
        if refer[0] is not refer[1]:
            here = refer[1] if self._theirs_is_f else refer[0]
            where = "here, not there" if here else "there, not here"
            pair.verdict = Verdict.REFUSED
            pair.refusal = f"type {short}: values refer to each other {where}"
        elif f.kind == "union":
            self._look_at_union(pair, short)
        else:
            both = f.tier == t.tier == "archive"
            pair.sources, pair.verdict, pair.refusal = self.sources(
                f.fields, t.fields, pair.edges, by_number=both, word="field", owner=f"{short}."
            )
        if f.tier != t.tier:
            pair.verdict = max(pair.verdict, Verdict.ADAPTS)

    def _look_at_union(self, pair: Pair, short: str) -> None:
        theirs = {each.number: each for each in pair.t.fields}
        for field in pair.f.fields:
            other = theirs.get(field.number)
            if other is None:
                pair.verdict = max(pair.verdict, Verdict.CHECKED)
                continue
            place = f"alternative {short}.{self.ours(field.name, other.name)}"
            try:
                conversion = self.convert(field.type, other.type, place)
            except Refused as why:
                pair.refusal = pair.refusal or str(why)
                pair.verdict = Verdict.REFUSED
                continue
            pair.cases[field.number] = conversion
            pair.verdict = max(pair.verdict, conversion.verdict)
            pair.edges += pairs_of(conversion)
        same = [(each.number, each.name) for each in pair.f.fields]
        if same != [(each.number, each.name) for each in pair.t.fields]:
            pair.verdict = max(pair.verdict, Verdict.ADAPTS)


def kind_of(declared: Declared) -> str:
    """What a type of one kind can become: an error is a struct, too."""
    if declared.tier == "custom":
        return "custom"
    return "struct" if declared.kind == "error" else declared.kind


def pairs_of(conversion: Conversion) -> "list[Pair]":
    found = [] if conversion.pair is None else [conversion.pair]
    for inner in conversion.inner:
        found += pairs_of(inner)
    return found


def absent_value(type_: Type, default: str | None) -> Absent | None:
    """The value of a field that is not given; None: there is none."""
    if default is not None or isinstance(type_, OptionalOf | ListOf | SetOf | MapOf):
        return Absent(type_, default)
    return None


def _by_number(f: tuple[Field, ...], t: tuple[Field, ...]) -> list[int]:
    places = {field.number: index for index, field in enumerate(f)}
    return [places.get(field.number, -1) for field in t]


Names = tuple[str, tuple[str, ...]]
"""A name, and earlier ones."""


def names_of(items: "Iterable[Field | Method]") -> list[Names]:
    return [(each.name, each.was) for each in items]


def partners(f: list[Names], t: list[Names]) -> list[int]:
    """For each of `t` the index of its partner in `f`, or -1: of the same name, else of a name that either of
    them had."""
    places = {name: index for index, (name, _) in enumerate(f)}
    found = [places.get(name, -1) for name, _ in t]
    taken = set(found)
    for place, (name, was) in enumerate(t):
        if found[place] >= 0:
            continue
        earlier = [places[each] for each in was if each in places]
        earlier += [index for index, (_, former) in enumerate(f) if name in former]
        index = next((each for each in earlier if each not in taken), -1)
        found[place] = index
        taken.add(index)
    return found


# Enums and flags --------------------------------------------------------------------------------------------


def _look_at_numbers(pair: Pair) -> None:
    """A member goes to the one of its name, else to the one of its number if F does not know that one, else
    an open T keeps the number where it names nothing."""
    f, t = pair.f, pair.t
    after = t.numbers
    named = {number: name for name, number in after.items()}
    fits = _fitting(t)
    pair.lost = frozenset(number for number, name in named.items() if f.numbers.get(name, number) != number)
    for name, number in f.numbers.items():
        to: int | None = after.get(name)
        if to is None and number not in pair.lost and (number in named or (t.open and fits(number))):
            to = number
        pair.numbers[number] = to
    pair.keeps = t.open
    lossy = None in pair.numbers.values()
    if f.open and not lossy:
        lossy = not t.open or bool(pair.lost) or not _as_wide(f, t)
    if lossy:
        pair.verdict = Verdict.CHECKED
    elif (dict(f.numbers), f.base, f.open) != (dict(after), t.base, t.open):
        pair.verdict = Verdict.ADAPTS


def _fitting(t: Declared) -> "_Fits":
    return _Fits(*((0, int(t.base[1:]) - 1) if t.kind == "flags" else range_of(t.base)))


class _Fits:
    __slots__ = ("_high", "_low")

    def __init__(self, low: int, high: int) -> None:
        self._low = low
        self._high = high

    def __call__(self, number: int) -> bool:
        return self._low <= number <= self._high


def _as_wide(f: Declared, t: Declared) -> bool:
    """Whether T's base has every number of F's."""
    if f.kind == "flags":
        return int(t.base[1:]) >= int(f.base[1:])
    (low, high), (least, most) = range_of(f.base), range_of(t.base)
    return least <= low and high <= most
