"""F4. `reserved 5, 7..9, "old_name";`: the numbers and names that members may not have any more."""

import re
from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.context import Context
from mfidl.source import Span
from mfidl.syntax import ast

NUMBER_LIMIT = (1 << 29) - 1
# An archive is valid protobuf, and these are protobuf's own.
PROTOBUF_OWN = range(19_000, 20_000)

# First and last number, and where they are reserved.
Reserve = tuple[int, int, Span]

IDENTIFIER = re.compile("[A-Za-z_][A-Za-z_0-9]*")


def _low(reserve: Reserve) -> int:
    return reserve[0]


@dataclass(slots=True)
class Reservation:
    """What one declaration reserves, each with its place. Ranges do not overlap."""

    ranges: list[Reserve] = field(default_factory=list)
    names: dict[str, Span] = field(default_factory=dict)
    _ascending: list[Reserve] = field(default_factory=list)

    def add(self, low: int, high: int, span: Span) -> None:
        """A range that `first_within` finds nothing in."""
        self.ranges.append((low, high, span))
        insort(self._ascending, (low, high, span), key=_low)

    def first_within(self, low: int, high: int) -> Reserve | None:
        """The first reserved range that shares a number with these, or None."""
        at = bisect_right(self._ascending, low, key=_low)
        for reserve in self._ascending[max(0, at - 1) : at + 1]:
            if low <= reserve[1] and reserve[0] <= high:
                return reserve
        return None

    def place_of(self, number: int) -> Span | None:
        """Where a number is reserved, or None."""
        found = self.first_within(number, number)
        return None if found is None else found[2]

    def behind(self, number: int) -> int:
        """The smallest number from this one on that is not reserved, here or by protobuf."""
        while True:
            found = self.first_within(number, number)
            if found is not None:
                number = found[1] + 1
            elif number in PROTOBUF_OWN:
                number = PROTOBUF_OWN.stop
            else:
                return number

    def in_model(self) -> model.Reserved:
        return model.Reserved(tuple((low, high) for low, high, _ in self.ranges), tuple(self.names))


def read_reserved(context: Context, clauses: Iterable[ast.Reserved]) -> Reservation:
    """The sound items of all clauses; numbers that cannot be numbers, and what is reserved twice, are
    reported.
    """
    made = Reservation()
    for clause in clauses:
        for annotation in clause.annotations:
            context.diagnostics.error("E0429", annotation.span, name=annotation.path.text)
        for item in clause.items:
            if isinstance(item, ast.StringLiteral):
                _name(context, item, made)
            else:
                _range(context, item, made)
    return made


def _name(context: Context, item: ast.StringLiteral, made: Reservation) -> None:
    text = item.data.decode("utf-8", "replace")
    if not IDENTIFIER.fullmatch(text):
        context.diagnostics.error("E0430", item.span, name=text)
    elif text in made.names:
        _twice(context, item.span, made.names[text], f'"{text}"')
    else:
        made.names[text] = item.span


def _range(context: Context, item: ast.ReservedRange, made: Reservation) -> None:
    low, high = item.low.value, item.high.value
    if low > high:
        fix = f"{item.high.span.text()}..{item.low.span.text()}"
        context.diagnostics.error("E0606", item.span, help=f"write `{fix}`", fix=fix, range=item.span.text())
        return
    for bound in (item.low, item.high) if item.low is not item.high else (item.low,):
        if not 1 <= bound.value <= NUMBER_LIMIT:
            context.diagnostics.error("E0423", bound.span, number=bound.span.text(), limit=NUMBER_LIMIT)
            return
    other = made.first_within(low, high)
    if other is not None:
        _twice(context, item.span, other[2], f"number {max(low, other[0])}")
        return
    made.add(low, high, item.span)


def _twice(context: Context, span: Span, first: Span, what: str) -> None:
    context.diagnostics.error("E0431", span, notes=[Note("first here", first)], what=what)
