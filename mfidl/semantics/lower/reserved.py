"""F4. `reserved 5, 7..9, "old_name";`: the numbers and names that members may not have any more."""

import re
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

IDENTIFIER = re.compile("[A-Za-z_][A-Za-z_0-9]*")


@dataclass(slots=True)
class Reservation:
    """What one declaration reserves, each with its place."""

    ranges: list[tuple[int, int, Span]] = field(default_factory=list)
    names: dict[str, Span] = field(default_factory=dict)

    def place_of(self, number: int) -> Span | None:
        """Where a number is reserved, or None."""
        return next((span for low, high, span in self.ranges if low <= number <= high), None)

    def behind(self, number: int) -> int:
        """The smallest number from this one on that is not reserved, here or by protobuf."""
        for low, high in sorted([*((low, high) for low, high, _ in self.ranges), (19_000, 19_999)]):
            if low <= number <= high:
                number = high + 1
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
    for other_low, other_high, span in made.ranges:
        if low <= other_high and other_low <= high:
            shared = max(low, other_low)
            _twice(context, item.span, span, f"number {shared}")
            return
    made.ranges.append((low, high, item.span))


def _twice(context: Context, span: Span, first: Span, what: str) -> None:
    context.diagnostics.error("E0431", span, notes=[Note("first here", first)], what=what)
