"""Types and declarations of a schema that is being made up, and values that may be written for them.

Every declaration has a place (`index`), and holds directly, and names in its defaults, only such as stand
before it: so no value is without end, while through lists, maps, optionals and refs anything may lead to
anything.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.random_schemas.scalars import FIXED, KEYS, LITERALS, Rule

NO_RULE = Rule("")


@dataclass(frozen=True)
class Scalar:
    word: str


@dataclass(frozen=True)
class Sequence:
    """list, set, or array, whose length is a number or a constant."""

    word: str
    element: Type
    rule: Rule = NO_RULE
    length: tuple[int, str] = (0, "")


@dataclass(frozen=True)
class Map:
    key: Type
    value: Type
    key_rule: Rule = NO_RULE
    value_rule: Rule = NO_RULE


@dataclass(frozen=True)
class Optional:
    element: Type


@dataclass(frozen=True)
class Ref:
    to: Declared


@dataclass(frozen=True)
class Name:
    of: Declared


Type = Scalar | Sequence | Map | Optional | Ref | Name


@dataclass
class Member:
    """A field, alternative, parameter, result (a type), or a member of an enum or of flags (a number)."""

    name: str
    type: Type = Scalar("u8")
    rule: Rule = NO_RULE
    default: str | None = None
    number: int | None = None
    default_rule_behind: bool = False


@dataclass(eq=False)
class Declared:
    name: str
    kind: str  # struct, union, enum, open enum, flags, type, custom, const, error, agent, annotation, service
    index: int
    module: str
    tier: str = ""
    members: list[Member] = field(default_factory=list)
    base: str = ""  # of enums and flags; of a constant its value, as it is written
    type: Type = Scalar("u8")  # of an alias or a constant
    rule: Rule = NO_RULE
    fixed: bool = False
    least: int = 1  # scalars in its smallest value
    holder: Declared | None = None  # what it is declared within
    inner: list[Declared] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Its name as the whole module may write it."""
        return f"{self.holder.path}.{self.name}" if self.holder else self.name

    @property
    def is_archive(self) -> bool:
        return self.tier == "archive"


def bare(type_: Type) -> Type:
    """Without aliases around it."""
    while isinstance(type_, Name) and type_.of.kind == "type":
        type_ = type_.of.type
    return type_


def is_optional(type_: Type) -> bool:
    return isinstance(bare(type_), Optional)


def is_key(type_: Type) -> bool:
    match bare(type_):
        case Scalar(word):
            return word in KEYS
        case Name(of):
            return of.kind in ("enum", "open enum")
        case _:
            return False


def is_fixed(type_: Type) -> bool:
    match bare(type_):
        case Scalar(word):
            return word in FIXED
        case Sequence("array", element):
            return is_fixed(element)
        case Name(of):
            return of.fixed
        case _:
            return False


def least(type_: Type) -> int:
    """Scalars in the smallest value."""
    match bare(type_):
        case Sequence("array", element, _, (length, _)):
            return length * least(element)
        case Name(of):
            return of.least
        case _:
            return 1


def rules_of(type_: Type) -> list[Rule]:
    """Those of the aliases that it goes through."""
    found = []
    while isinstance(type_, Name) and type_.of.kind == "type":
        found.append(type_.of.rule)
        type_ = type_.of.type
    return found


class Spelling:
    """How a module calls the declarations of others: by module, the prefixes that it may use."""

    def __init__(self, module: str, prefixes: dict[str, list[str]], dice: random.Random) -> None:
        self._module = module
        self._prefixes = prefixes
        self._dice = dice

    def name(self, declared: Declared) -> str:
        if declared.module == self._module:
            return declared.path
        return f"{self._dice.choice(self._prefixes[declared.module])}.{declared.path}"

    def type(self, type_: Type) -> str:
        match type_:
            case Scalar(word):
                return word
            case Sequence("array", element, rule, (_, length)):
                return f"array<{_with(self.type(element), rule)}, {length}>"
            case Sequence(word, element, rule):
                return f"{word}<{_with(self.type(element), rule)}>"
            case Map(key, value, key_rule, value_rule):
                return f"map<{_with(self.type(key), key_rule)}, {_with(self.type(value), value_rule)}>"
            case Optional(element):
                return f"{self.type(element)}?"
            case Ref(to):
                return f"ref<{self.name(to)}>"
            case Name(of):
                return self.name(of)


def _with(text: str, rule: Rule) -> str:
    return f"{text} {rule.text}" if rule.text else text


class Literals:
    """Values as a module writes them. `limit`: only what precedes this index has a literal."""

    def __init__(self, spelling: Spelling, dice: random.Random, limit: int) -> None:
        self._spelling = spelling
        self._dice = dice
        self._limit = limit

    def of(self, type_: Type, *rules: Rule, depth: int = 0) -> str | None:
        """None where there is none, or none was found that keeps the rules."""
        rules = (*rules, *rules_of(type_))
        match bare(type_):
            case Scalar(word):
                good = _kept(LITERALS[word], rules)
                return self._dice.choice(good) if good else None
            case Optional(element):
                return self.of(element, *rules, depth=depth)
            case Sequence("array", element, rule, (length, _)):
                one = [self.of(element, rule, depth=depth + 1) for _ in range(length)]
                return None if None in one else f"[{', '.join(map(str, one))}]"
            case Sequence(word, element, rule):
                return self._elements(word, element, rule, rules, depth)
            case Map(key, value, key_rule, value_rule):
                return self._entries(key, value, key_rule, value_rule, rules, depth)
            case Ref():
                return None
            case Name(of):
                return self._declared(of, depth)
            case _:
                raise AssertionError(type_)

    def _count(self, rules: tuple[Rule, ...], depth: int) -> int | None:
        low, high = (
            max(each.least for each in (NO_RULE, *rules)),
            min(each.most for each in (NO_RULE, *rules)),
        )
        wanted = 0 if depth > 1 else self._dice.choice((0, 1, 2, 3))
        return min(max(wanted, low), high) if low <= high else None

    def _elements(
        self, word: str, element: Type, rule: Rule, rules: tuple[Rule, ...], depth: int
    ) -> str | None:
        count = self._count(rules, depth)
        if count is None:
            return None
        if word == "set":
            made: list[str | None] = list(self._keys(element, rule, count))
            if len(made) < max((each.least for each in rules), default=0):
                return None
        elif is_optional(element) and count:
            return None  # there is no literal for what is absent, and some is as good as none
        else:
            made = [self.of(element, rule, depth=depth + 1) for _ in range(count)]
        return None if None in made else f"[{', '.join(map(str, made))}{', ' * bool(made)}]"

    def _entries(
        self, key: Type, value: Type, key_rule: Rule, value_rule: Rule, rules: tuple[Rule, ...], depth: int
    ) -> str | None:
        count = self._count(rules, depth)
        keys = self._keys(key, key_rule, count or 0)
        if count is None or len(keys) < max((each.least for each in rules), default=0):
            return None
        held = [self.of(value, value_rule, depth=depth + 1) for _ in keys]
        if None in held:
            return None
        return f"{{{', '.join(f'{k}: {v}' for k, v in zip(keys, held, strict=True))}}}"

    def _keys(self, type_: Type, rule: Rule, count: int) -> list[str]:
        match bare(type_):
            case Scalar(word):
                good = _kept(LITERALS[word], (rule, *rules_of(type_)))
            case Name(of):
                good = [f"{self._spelling.name(of)}.{each.name}" for each in of.members]
            case _:
                raise AssertionError(type_)
        return self._dice.sample(good, min(count, len(good)))

    def _declared(self, of: Declared, depth: int) -> str | None:
        name = self._spelling.name(of)
        if of.kind in ("enum", "open enum"):
            return f"{name}.{self._dice.choice(of.members).name}" if of.members else None
        if of.kind == "flags":
            some = [f"{name}.{each.name}" for each in of.members if self._dice.random() < 0.5]
            return some[0] if len(some) == 1 and self._dice.random() < 0.5 else f"[{', '.join(some)}]"
        if of.kind == "custom" or of.index >= self._limit or depth > 4:
            return None
        if of.kind == "union":
            chosen = self._dice.choice(of.members)
            held = self.of(chosen.type, chosen.rule, depth=depth + 1)
            return None if held is None else f"{{ {chosen.name}: {held} }}"
        return self._fields(of, depth)

    def _fields(self, of: Declared, depth: int) -> str | None:
        made = []
        for each in of.members:
            may_lack = each.default is not None or is_optional(each.type)
            if may_lack and self._dice.random() < 0.6:
                continue
            value = self.of(each.type, each.rule, depth=depth + 1)
            if value is not None:
                made.append(f"{each.name}: {value}")
            elif not may_lack:
                return None
        return f"{{ {', '.join(made)} }}" if made else "{}"


def _kept(literals: tuple[str, ...], rules: tuple[Rule, ...]) -> list[str]:
    kept: list[str] | None = None
    for rule in rules:
        if rule.keeps:
            kept = list(rule.keeps) if kept is None else [each for each in kept if each in rule.keeps]
    return list(literals) if kept is None else kept
