"""F6. Conditions of the preprocessor, `#if defined(A) && VERSION >= 30700`, as in C."""

import operator
import re
from collections.abc import Callable, Sequence

from mfidl.foreign.scan import Refused
from mfidl.source import Span

_PART = re.compile(
    r"\s*(?:(?P<number>[0-9][0-9A-Za-z]*)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>&&|\|\||[=!<>]=|<<|>>|[-+*/%<>!~&|^?:()]))",
    re.ASCII,
)
_NUMBER = re.compile(r"(?P<hex>0[xX][0-9a-fA-F]+)|(?P<octal>0[0-7]*)|(?P<decimal>[0-9]+)")
_DIGITS_LIMIT = 100
_DEPTH_LIMIT = 32  # of brackets and macros within each other
_Operator = Callable[[int, int], int]
# Weakest first; those of one row bind alike.
_ROWS: tuple[dict[str, _Operator], ...] = (
    {"||": lambda left, right: int(bool(left or right))},
    {"&&": lambda left, right: int(bool(left and right))},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"<<": lambda left, right: left << right % 64, ">>": lambda left, right: left >> right % 64},
    {"+": operator.add, "-": operator.sub},
    {
        "*": operator.mul,
        "/": lambda left, right: _divided(left, right),
        "%": lambda left, right: _rest(left, right),
    },
)
_OPERATORS = {mark: (level, apply) for level, row in enumerate(_ROWS) for mark, apply in row.items()}


def holds(text: str, span: Span, defined: Callable[[str], bool], value_of: Callable[[str], str]) -> bool:
    """Whether a condition holds. `value_of` gives the text of a macro; names that are no macros are zero."""
    condition = _Condition(text, span, defined, value_of, 0)
    return condition.whole() != 0


class _Condition:
    def __init__(
        self,
        text: str,
        span: Span,
        defined: Callable[[str], bool],
        value_of: Callable[[str], str],
        depth: int,
    ) -> None:
        self._span = span
        self._defined = defined
        self._value_of = value_of
        self._depth = depth
        self._parts = self._split(text)
        self._at = 0

    def _split(self, text: str) -> Sequence[tuple[str, str]]:
        made: list[tuple[str, str]] = []
        at, text = 0, text.rstrip()
        while at < len(text):
            found = _PART.match(text, at)
            if found is None:
                raise self._refused()
            made.append((found.lastgroup or "", found[found.lastgroup or 0]))
            at = found.end()
        return [*made, ("end", "")]

    def whole(self) -> int:
        value = self._choice()
        if self._parts[self._at][0] != "end":
            raise self._refused()
        return value

    def _choice(self) -> int:
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        self._deeper()
        first = self._choice()
        if not self._take(":"):
            raise self._refused()
        second = self._choice()
        self._depth -= 1
        return first if condition else second

    def _binary(self, weakest: int) -> int:
        left = self._single()
        while True:
            level, apply = _OPERATORS.get(self._parts[self._at][1], (-1, operator.or_))
            if level < weakest:
                return left
            self._at += 1
            left = _of_64_bits(int(apply(left, self._binary(level + 1))))

    def _single(self) -> int:
        signs: list[str] = []
        while self._parts[self._at][1] in ("!", "-", "+", "~"):
            signs.append(self._parts[self._at][1])
            self._at += 1
        value = self._primary()
        for sign in reversed(signs):
            value = {"!": int(not value), "-": -value, "+": value, "~": ~value}[sign]
        return value

    def _primary(self) -> int:
        kind, text = self._parts[self._at]
        self._at += 1
        if kind == "number":
            return self._number(text)
        if text == "defined":
            in_brackets = self._take("(")
            kind, name = self._parts[self._at]
            self._at += 1
            if kind != "name" or (in_brackets and not self._take(")")):
                raise self._refused()
            return int(self._defined(name))
        if kind == "name":
            return self._macro(text)
        if text == "(":
            self._deeper()
            value = self._choice()
            self._depth -= 1
            if self._take(")"):
                return value
        raise self._refused()

    def _macro(self, name: str) -> int:
        if not self._defined(name):
            return int(name == "true")
        self._deeper()
        inner = _Condition(self._value_of(name), self._span, self._defined, self._value_of, self._depth)
        self._depth -= 1
        return inner.whole()

    def _number(self, text: str) -> int:
        found = _NUMBER.fullmatch(text.rstrip("uUlL"))
        if found is None or len(text) > _DIGITS_LIMIT:
            raise self._refused()
        return int(found[0], {"hex": 16, "octal": 8, "decimal": 10}[found.lastgroup or ""])

    def _take(self, mark: str) -> bool:
        if self._parts[self._at] != ("mark", mark):
            return False
        self._at += 1
        return True

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_LIMIT:
            raise Refused(self._span, f"nested more than {_DEPTH_LIMIT} levels deep")

    def _refused(self) -> Refused:
        return Refused(self._span, "this condition is not understood")


def _of_64_bits(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _divided(left: int, right: int) -> int:
    """Towards zero, as in C; by zero it is zero, since a condition that is not reached may do that."""
    return 0 if right == 0 else abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _rest(left: int, right: int) -> int:
    return 0 if right == 0 else left - right * _divided(left, right)
