"""R0. What a consumer can do with a provider of another schema, method by method.

A consumer, with its own schema, calls or subscribes; a provider, with its schema, is never asked to know the
consumer's. So a plan has two directions: what the consumer sends goes from its schema to the provider's,
what comes back the other way.
"""

from collections.abc import Iterable

from mf.evolution.rules import (
    Conversion,
    Pair,
    Refused,
    Rules,
    Source,
    Verdict,
    names_of,
    pairs_of,
    partners,
    reached,
)
from mf.evolution.schema import Fields, Method, Schema
from mf.evolution.types import Named, Type, short, spell


class Part:
    """The parameters, the results, a stream's element or an error, on its way: `verdict` with all that it
    reaches. `sources` are there for parameters and results, `conversion` for an element or an error."""

    __slots__ = ("conversion", "f", "pairs", "sources", "t", "verdict")

    def __init__(self, verdict: Verdict = Verdict.EQUAL) -> None:
        self.verdict = verdict
        self.pairs: list[Pair] = []
        self.sources: tuple[Source, ...] = ()
        self.conversion: Conversion | None = None
        self.f: Fields | Type | None = None
        self.t: Fields | Type | None = None

    def settle(self) -> str | None:
        """Once all rules have been applied. The first refusal that is met."""
        self.pairs = reached(self.pairs)
        self.verdict = max((self.verdict, *(each.verdict for each in self.pairs)))
        return next((each.refusal for each in self.pairs if each.refusal is not None), None)


class MethodPlan:
    """Of one method of the consumer. `reason`: a sentence where it is refused or unknown.

    `errors`: for each error that the provider throws, the consumer's index and the way there; None for one
    that the consumer does not declare.
    """

    __slots__ = (
        "errors",
        "name",
        "param_stream",
        "params",
        "reason",
        "result_stream",
        "results",
        "theirs",
        "verdict",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.theirs: Method | None = None
        self.verdict = Verdict.EQUAL
        self.reason: str | None = None
        self.params = Part()
        self.results = Part()
        self.param_stream: Part | None = None
        self.result_stream: Part | None = None
        self.errors: list[tuple[int, Part] | None] = []

    def parts(self) -> list[Part]:
        parts = (self.params, self.param_stream, self.results, self.result_stream)
        errors = (each[1] for each in self.errors if each is not None)
        return [*(each for each in parts if each is not None), *errors]


class Plan:
    """`reason`: why nothing can be called at all. `methods`: one for each of the consumer's, in its order.
    `value`: of a topic, or of a value on its own."""

    __slots__ = ("methods", "ours", "reason", "theirs", "value")

    def __init__(self, ours: Schema, theirs: Schema) -> None:
        self.ours = ours
        self.theirs = theirs
        self.reason: str | None = None
        self.methods: list[MethodPlan] = []
        self.value: Part | None = None


def plan(ours: Schema, theirs: Schema) -> Plan:
    """`ours`: of the consumer."""
    return _Planner(ours, theirs).plan


class _Planner:
    __slots__ = ("_from_them", "_ours", "_theirs", "_to_them", "plan")

    def __init__(self, ours: Schema, theirs: Schema) -> None:
        self._ours = ours
        self._theirs = theirs
        self._to_them = Rules(ours, theirs, theirs_is_f=False)
        self._from_them = Rules(theirs, ours, theirs_is_f=True)
        self.plan = Plan(ours, theirs)
        self.plan.reason = self._whole()
        if self.plan.reason is not None:
            return
        mine, others = list(ours.methods.values()), list(theirs.methods.values())
        for method, index in zip(mine, partners(names_of(others), names_of(mine)), strict=True):
            self.plan.methods.append(self._method(method, others[index] if index >= 0 else None))
        if ours.value is not None:
            self._value(ours.value)

    def _whole(self) -> str | None:
        ours, theirs = self._ours, self._theirs
        if ours.kind != theirs.kind:
            return f"{ours.short}: {ours.kind} here, {theirs.kind} there"
        mine, other = ours.per, theirs.per
        words = [f"per {each[0]} {spell(each[1])}" if each else "per nothing" for each in (mine, other)]
        differ = f"{ours.short}: {words[0]} here, {words[1]} there"
        if mine is None or other is None:
            return None if mine is other else differ
        try:
            conversion = self._to_them.convert(mine[1], other[1], "")
        except Refused:
            return differ
        self._to_them.settle()
        numbers = {number: to for pair in pairs_of(conversion) for number, to in pair.numbers.items()}
        moved = any(to is not None and to != number for number, to in numbers.items())
        same = isinstance(mine[1], Named) or mine[1] == other[1]
        return differ if moved or not same else None

    def _value(self, mine: Type) -> None:
        assert self._theirs.value is not None
        place = f"{self._ours.short}: "
        part = self.plan.value = Part()
        reason = self._element(part, self._from_them, self._theirs.value, mine, "value")
        self._from_them.settle()
        reason = reason or part.settle()
        if reason is not None:
            part.verdict = Verdict.REFUSED
            self.plan.reason = place + reason

    # Methods

    def _method(self, ours: Method, theirs: Method | None) -> MethodPlan:
        made = MethodPlan(ours.name)
        place = f"{self._ours.short}.{ours.name}: "
        made.theirs = theirs
        if theirs is None:
            made.verdict, made.reason = Verdict.UNKNOWN_METHOD, place + "method only here"
            return made
        reason = self._form(ours, theirs) or self._parts(made, ours, theirs)
        self._to_them.settle()
        self._from_them.settle()
        for part in made.parts():
            reason = part.settle() if reason is None else reason
        if reason is not None:
            made.verdict, made.reason = Verdict.REFUSED, place + reason
            return made
        made.verdict = max(part.verdict for part in made.parts())
        if ours.name != theirs.name or ours.throws != theirs.throws:
            made.verdict = max(made.verdict, Verdict.ADAPTS)
        return made

    def _form(self, ours: Method, theirs: Method) -> str | None:
        """What must be the same."""
        if ours.oneway != theirs.oneway:
            return "one-way here, not there" if ours.oneway else "one-way there, not here"
        if ours.replicated != theirs.replicated:
            here, there = (
                f"replicated {each}" if each else "not replicated"
                for each in (ours.replicated, theirs.replicated)
            )
            return f"{here} here, {there} there"
        for word, mine, other in (
            ("parameter", ours.params_stream, theirs.params_stream),
            ("result", ours.results_stream, theirs.results_stream),
        ):
            if (mine is None) != (other is None):
                here, there = (spell(each) if each is not None else "none" for each in (mine, other))
                return f"{word} stream: {here} here, {there} there"
        return None

    def _parts(self, made: MethodPlan, ours: Method, theirs: Method) -> str | None:
        to_them, from_them = self._to_them, self._from_them
        reasons = [self._fields(made.params, to_them, ours.params, theirs.params, "parameter")]
        if ours.params_stream is not None and theirs.params_stream is not None:
            made.param_stream = Part()
            both = ours.params_stream, theirs.params_stream
            reasons.append(self._element(made.param_stream, to_them, *both, "parameter stream"))
        reasons.append(self._fields(made.results, from_them, theirs.results, ours.results, "result"))
        if ours.results_stream is not None and theirs.results_stream is not None:
            made.result_stream = Part()
            both = theirs.results_stream, ours.results_stream
            reasons.append(self._element(made.result_stream, from_them, *both, "result stream"))
        for error in theirs.throws:
            if error not in ours.throws:
                made.errors.append(None)
                continue
            part, both = Part(), (Named(error), Named(error))
            reasons.append(self._element(part, from_them, *both, f"throws {short(error)}"))
            made.errors.append((ours.throws.index(error), part))
        return _first(reasons)

    @staticmethod
    def _fields(part: Part, rules: Rules, f: Fields, t: Fields, word: str) -> str | None:
        part.f, part.t = f, t
        part.sources, part.verdict, refusal = rules.sources(
            f.fields, t.fields, part.pairs, by_number=False, word=word, owner=""
        )
        if f.tier != t.tier:
            part.verdict = max(part.verdict, Verdict.ADAPTS)
        return refusal

    @staticmethod
    def _element(part: Part, rules: Rules, f: Type, t: Type, word: str) -> str | None:
        part.f, part.t = f, t
        try:
            part.conversion = rules.convert(f, t, word)
        except Refused as why:
            part.verdict = Verdict.REFUSED
            return str(why)
        part.verdict = part.conversion.verdict
        part.pairs += pairs_of(part.conversion)
        return None


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((each for each in reasons if each is not None), None)
