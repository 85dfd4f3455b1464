"""F4. The numbers of fields, alternatives and parameters: their identity across versions.

All members of a declaration have numbers, or none has; a struct of tier archive needs them, and a union
without them is numbered from 1 by place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mfidl.diagnostics import Fix, Note
from mfidl.semantics.context import Context
from mfidl.semantics.lower.reserved import NUMBER_LIMIT, PROTOBUF_OWN, Reservation
from mfidl.source import Span
from mfidl.syntax import ast

_SHOWN = 3  # examples in a message; the fix has them all


@dataclass(frozen=True, slots=True)
class Numbering:
    """How the members of one declaration are numbered. `needed_by`: the archive struct that cannot do without
    numbers, and where it asks for its tier. `by_place`: those of a union without numbers.
    """

    reserved: Reservation = field(default_factory=Reservation)
    needed_by: tuple[ast.Name, Span] | None = None
    by_place: bool = False


def number_members(
    context: Context, members: Sequence[ast.Field], kind: str, rules: Numbering
) -> dict[ast.Field, int]:
    """The members with a sound number; whatever is wrong with the others is reported."""
    if not any(member.number is not None for member in members):
        if rules.needed_by is not None and members:
            _report_unnumbered(context, members, kind, rules, rules.needed_by)
        elif rules.by_place:
            return _by_place(context, members, kind, rules)
        return {}
    return _as_written(context, members, kind, rules)


def _by_place(
    context: Context, members: Sequence[ast.Field], kind: str, rules: Numbering
) -> dict[ast.Field, int]:
    made: dict[ast.Field, int] = {}
    for number, member in enumerate(members, 1):
        made[member] = number
        if rules.reserved.place_of(number) is not None:
            place = rules.reserved.place_of(number)
            notes = [Note("reserved here", place)]
            hint = "give every alternative its number"
            context.diagnostics.error(
                "E0427", member.name.span, notes=notes, help=hint, number=number, kind=kind
            )
            break
    return made


def _as_written(
    context: Context, members: Sequence[ast.Field], kind: str, rules: Numbering
) -> dict[ast.Field, int]:
    taken: dict[int, ast.Field] = {}
    highest = max(
        (m.number.value for m in members if isinstance(m.number, ast.IntLiteral) and _in_range(m.number)),
        default=0,
    )
    used = (m.number.value for m in members if isinstance(m.number, ast.IntLiteral))
    following = _Following(highest, rules.reserved, used)
    other = next(each for each in members if each.number is not None)
    for member in members:
        number = member.number
        if number is None:
            free = following.take()
            written = None if free is None else f"{free}: {member.name.text}"
            context.diagnostics.error(
                "E0425",
                member.name.span,
                notes=[Note(f"`{other.name.text}` has one", other.name.span)],
                help=None if written is None else f"write `{written}`",
                fix=written,
                kind=kind,
                name=member.name.text,
            )
        elif isinstance(number, ast.IntLiteral) and _is_free(
            context, number, kind, taken, rules.reserved, following
        ):
            taken[number.value] = member
    return {member: number for number, member in taken.items()}


class _Following:
    """Free numbers: above all that are in use, and, where none is left there, from 1 on."""

    def __init__(self, highest: int, reserved: Reservation, used: Iterable[int] = ()) -> None:
        self._next = highest + 1
        self._reserved = reserved
        self._used = set(used)

    def take(self) -> int | None:
        """None when there is none."""
        number = self._free_from(self._next)
        if number > NUMBER_LIMIT:
            number = self._free_from(1)
        if number > NUMBER_LIMIT:
            return None
        self._used.add(number)
        self._next = number + 1
        return number

    def _free_from(self, number: int) -> int:
        number = self._reserved.behind(number)
        while number in self._used:
            number = self._reserved.behind(number + 1)
        return number

    def advice(self) -> dict[str, Any]:
        """`help` and `fix` where a number is to be replaced."""
        free = self.take()
        return {} if free is None else {"help": f"{free} is free", "fix": str(free)}


def _in_range(number: ast.IntLiteral) -> bool:
    return 1 <= number.value <= NUMBER_LIMIT


def _is_free(
    context: Context,
    number: ast.IntLiteral,
    kind: str,
    taken: dict[int, ast.Field],
    reserved: Reservation,
    following: _Following,
) -> bool:
    value, span, report = number.value, number.span, context.diagnostics.error
    if not _in_range(number):
        report("E0423", span, number=span.text(), limit=NUMBER_LIMIT)
        return False
    if value in PROTOBUF_OWN:
        report("E0433", span, **following.advice(), number=value)
        return False
    place = reserved.place_of(value)
    if place is not None:
        notes = [Note("reserved here", place)]
        report("E0427", span, notes=notes, **following.advice(), number=value, kind=kind)
        return False
    if value in taken:
        other = taken[value]
        notes = [Note("first here", other.name.span)]
        report(
            "E0424", span, notes=notes, **following.advice(), number=value, kind=kind, other=other.name.text
        )
        return False
    return True


def _report_unnumbered(
    context: Context,
    members: Sequence[ast.Field],
    kind: str,
    rules: Numbering,
    needed_by: tuple[ast.Name, Span],
) -> None:
    """One message for the struct, with all numbers in the fix."""
    name, asked = needed_by
    notes = [Note("its tier is asked for here", asked)]
    following = _Following(0, rules.reserved)
    first, last = members[0].name.span, members[-1].name.span
    text, at, pieces, shown = first.file.text, first.start, [], []
    for member in members:
        start = member.name.span.start
        number = following.take()
        if number is None:
            context.diagnostics.error("E0426", name.span, notes=notes, name=name.text, kind=kind)
            return
        pieces.append(f"{text[at:start]}{number}: ")
        shown.append(f"`{number}: {member.name.text}`")
        at = start
    pieces.append(text[at : last.end])
    more = ", ..." if len(shown) > _SHOWN else ""
    context.diagnostics.error(
        "E0426",
        name.span,
        notes=notes,
        help=f"number them: {', '.join(shown[:_SHOWN])}{more}",
        fix=Fix(first.to(last), "".join(pieces)),
        name=name.text,
        kind=kind,
    )
