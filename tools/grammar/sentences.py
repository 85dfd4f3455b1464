"""Random sentences of the grammar, for tests: every construct, including those that no person would write."""

import random
from collections.abc import Iterator

from tools.grammar.g4 import Alt, Expr, Ref, Repeat, Seq, grammar_literals, grammar_rules

_WORDS = {
    "NAME": ["a", "b_c", "Hit", "u32", "list", "map", "MAX", "x1", "true", "reserved"],
    "HEX": ["0xff", "0X0_1"],
    "FLOAT": ["1.5", "2e-3", "1_0.0"],
    "DURATION": ["30s", "5min", "1ns"],
    "INTEGER": ["0", "7", "10_000"],
    "INNER_STRUCT": ["struct", "error", "union"],
    "STRING": ['"text"', '"\\n // no comment"', '"sf1/text.mfidl"', '"' + "long " * 12 + '"'],
}
_NEVER = frozenset(("BAD_NUMBER", "BAD_STRING"))
_DEPTH = 26


class Sentences:
    """Sentences as lists of tokens; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._rules = grammar_rules()
        self._literals = grammar_literals()
        # `reserved` is a word that the tree builder asks for, not the grammar.
        member = self._rules["structMember"]
        assert isinstance(member, Seq)
        field = Seq((Ref("field"), Ref("SEMICOLON")))
        items = Seq((Ref("reservedItem"), Repeat(Seq((Ref("COMMA"), Ref("reservedItem"))), "*")))
        inner = Seq((Repeat(Ref("annotation"), "*"), Ref("innerDecl")))
        reserved = Seq((Ref("RESERVED"), items, Ref("SEMICOLON")))
        self._rules["structMember"] = Alt((field, field, field, reserved, inner))
        # The words of types within others are the same; what follows distinguishes them.
        struct = Seq((Ref("INNER_STRUCT"), Ref("name"), Ref("structBody")))
        self._rules["innerDecl"] = Alt((struct, Ref("enumDecl"), Ref("flagsDecl"), Ref("aliasDecl")))
        self._literals["RESERVED"] = "reserved"

    def sentence(self, rule: str = "file") -> list[str]:
        return list(self._words(Ref(rule), 0))

    def _words(self, expr: Expr, depth: int) -> Iterator[str]:
        match expr:
            case Ref("EOF"):
                return
            case Ref(name) if name in self._rules:
                yield from self._words(self._rules[name], depth + 1)
            case Ref(name):
                yield self._chance.choice(_WORDS[name]) if name in _WORDS else self._literals[name]
            case Seq(parts):
                for part in parts:
                    yield from self._words(part, depth)
            case Alt(choices):
                yield from self._words(self._choice(choices, depth), depth)
            case Repeat(body, mark):
                for _ in range(self._times(mark, depth)):
                    yield from self._words(body, depth)

    def _choice(self, choices: tuple[Expr, ...], depth: int) -> Expr:
        possible = [each for each in choices if not (isinstance(each, Ref) and each.name in _NEVER)]
        if depth > _DEPTH // 2:
            return possible[0] if len(possible) < 3 else possible[1]
        return self._chance.choice(possible)

    def _times(self, mark: str, depth: int) -> int:
        if depth > _DEPTH // 2:
            return 0
        if mark == "?":
            return int(self._chance.random() < 0.5)
        most = 6 if depth < 3 else 3
        return self._chance.choice((0, 0, 1, 1, 2, most))
