"""Types, constraints and values for them, drawn from what a module can name."""

import random

from tests.random_schemas.kinds import (
    NO_RULE,
    Declared,
    Literals,
    Map,
    Name,
    Optional,
    Ref,
    Scalar,
    Sequence,
    Spelling,
    Type,
    bare,
    is_key,
    is_optional,
    least,
    rules_of,
)
from tests.random_schemas.scalars import ALL, FIXED, INTEGERS, KEYS, LITERALS, RULES, SIZES, Rule

MOST = 60  # scalars in the smallest value of a type: else values of types in types grow beyond all bounds


def _number(literal: str) -> int:
    return int(literal.replace("_", ""), 0)


def _is_integer(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.word in INTEGERS


class Drawing:
    """`_all`: what a ref may lead to, so far; `beside`: constants, errors and agents that can be named."""

    def __init__(self, dice: random.Random, spelling: Spelling, beside: list[Declared]) -> None:
        self._dice = dice
        self._spelling = spelling
        self._all: list[Declared] = []
        self.beside = list(beside)

    def _chance(self, of: float) -> bool:
        return self._dice.random() < of

    def _value(self, type_: Type, rule: Rule, limit: int) -> str | None:
        if self._chance(0.3):
            free = not rule.text and not rules_of(type_)
            fitting = [each for each in self._constants() if each.type == type_ and each.index < limit]
            if fitting and free:
                return self._spelling.name(self._dice.choice(fitting))
        return Literals(self._spelling, self._dice, limit).of(type_, rule)

    def _constants(self) -> list[Declared]:
        return [each for each in self.beside if each.kind == "const"]

    def _fixed(self, direct: list[Declared]) -> Type:
        if direct and self._chance(0.35):
            return Name(self._dice.choice(direct))
        if self._chance(0.2):
            return self._array(self._fixed(direct))
        return Scalar(self._dice.choice(FIXED))

    def _type(self, direct: list[Declared], any_: list[Declared], archive: bool, depth: int = 0) -> Type:
        """`direct`: what may be held as it is; `any_`: behind a list, map, optional or ref."""
        chance = self._dice.random()
        if depth > 3 or chance < 0.35:
            return Scalar(self._dice.choice(ALL))
        if chance < 0.55:
            return Name(self._dice.choice(direct)) if direct else Scalar("string")
        if chance < 0.63:
            inner = self._type(any_, any_, archive, depth + 1)
            return inner if is_optional(inner) else Optional(inner)
        if chance < 0.75:
            element = self._type(any_, any_, archive, depth + 1)
            return Sequence("list", element, self._rule(element))
        if chance < 0.80:
            key = self._key(any_)
            return Sequence("set", key, self._rule(key))
        if chance < 0.85:
            return self._array(self._type(direct, any_, archive, depth + 1))
        if chance < 0.92:
            key, value = self._key(any_), self._type(any_, any_, archive, depth + 1)
            return Map(key, value, self._rule(key), self._rule(value))
        to = [each for each in self._all if each.is_archive] if archive else []
        if to and chance < 0.99:
            return self._ref(Ref(self._dice.choice(to)))
        return Scalar(self._dice.choice(ALL))

    def _ref(self, ref: Ref) -> Type:
        return self._dice.choice(
            (
                ref,
                Optional(ref),
                Optional(ref),
                Sequence("list", ref),
                Sequence("list", Optional(ref)),
                Map(Scalar(self._dice.choice(KEYS)), ref),
                Sequence("array", ref, NO_RULE, (2, "2")),
            )
        )

    def _key(self, among: list[Declared]) -> Type:
        named = [each for each in among if is_key(Name(each))]
        if named and self._chance(0.4):
            return Name(self._dice.choice(named))
        return Scalar(self._dice.choice(KEYS))

    def _array(self, element: Type) -> Sequence:
        most = max(1, min(5, MOST // least(element)))
        length = self._dice.randint(1, most)
        if least(element) == 1 and isinstance(element, Scalar) and self._chance(0.05):
            length = self._dice.choice((256, 257, 20))
        constants = [each for each in self._constants() if each.base in ("1", "7", "0x2a")]
        if constants and self._chance(0.5):
            chosen = self._dice.choice(constants)
            if int(chosen.base, 0) <= most and _is_integer(chosen.type):
                written = (int(chosen.base, 0), self._spelling.name(chosen))
                return Sequence("array", element, self._rule(element), written)
        return Sequence("array", element, self._rule(element), (length, str(length)))

    def _rule(self, type_: Type) -> Rule:
        if self._chance(0.8):
            return NO_RULE
        inner = bare(type_)
        inner = bare(inner.element) if isinstance(inner, Optional) else inner
        match inner:
            case Scalar(word) if word in RULES:
                return self._bounded(word) or self._dice.choice(RULES[word])
            case Sequence("array"):
                return NO_RULE
            case Sequence() | Map():
                return self._dice.choice(SIZES)
            case _:
                return NO_RULE

    def _bounded(self, word: str) -> Rule | None:
        """By a constant."""
        constants = [each for each in self._constants() if each.type == Scalar(word)]
        constants = [each for each in constants if each.base[0] in "-0123456789"]
        if word not in INTEGERS or not constants or self._chance(0.5):
            return None
        chosen = self._dice.choice(constants)
        kept = [each for each in LITERALS[word] if _number(each) <= _number(chosen.base)]
        return Rule(f"@range(..{self._spelling.name(chosen)})", tuple(kept))
