"""F6. Fields, parameters, results and alternatives: matches them across versions, and finds what changed.

Fields are matched by number if both sides have numbers, otherwise by name, or by an earlier name that @was
records. If the tier itself changed, that finding covers the bytes, and only the rest is reported here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mfidl import model
from mfidl.breaking.change import Changes
from mfidl.breaking.constraints import tightened
from mfidl.breaking.rules import Impact
from mfidl.breaking.wire import readable_as, uncoded, zero_is_legal
from mfidl.model import Tier
from mfidl.source import Span

_W, _L, _S, _B = Impact.WIRE, Impact.LAYOUT, Impact.SOURCE, Impact.BEHAVIOUR


@dataclass(frozen=True, slots=True)
class Holder:
    """Two versions of a declaration with fields. `word` is the name for its fields in messages; `owner` is
    the declaration's.

    `tier` is that of both, or None if it changed. `compatible_padding`: a memcpy struct that kept its size
    and all old offsets. `paths` lead up to the affected services. `subject`: see Change.
    """

    subject: str
    owner: str
    word: str
    tier: Tier | None
    old: Sequence[model.Field]
    new: Sequence[model.Field]
    old_reserved: model.Reserved
    new_reserved: model.Reserved
    same_offsets: bool
    same_size: bool
    here: Span | None
    before: Span | None
    paths: tuple[str, ...]


def compare_fields(holder: Holder, new_program: model.Program, changes: Changes) -> None:
    pairs = list(_pairs(holder.old, holder.new))
    both = [(before, after) for before, after in pairs if before and after]
    for before, after in pairs:
        if before is None and after is not None:
            _added(holder, after, new_program, changes)
        elif after is None and before is not None:
            _removed(holder, before, changes)
        elif before is not None and after is not None:
            _kept(holder, before, after, changes)
    _order(holder, both, changes)
    _reservations(holder, changes)


def _pairs(
    old: Sequence[model.Field], new: Sequence[model.Field]
) -> Iterator[tuple[model.Field | None, model.Field | None]]:
    """Pairs of matching fields; each field of either side occurs once."""
    left = list(old)

    def take(found: model.Field | None) -> model.Field | None:
        if found is not None:
            left.remove(found)
        return found

    matched: dict[model.Field, model.Field | None] = {}
    for field in new:
        if field.number is not None:
            matched[field] = take(next((each for each in left if each.number == field.number), None))
    for names in (lambda field: (field.name,), lambda field: field.was):
        for field in new:
            if matched.get(field) is None:
                wanted = names(field)
                matched[field] = take(next((each for each in left if each.name in wanted), None))
    yield from ((matched[field], field) for field in new)
    yield from ((field, None) for field in left)


def _added(holder: Holder, field: model.Field, program: model.Program, changes: Changes) -> None:
    impacts = set()
    why = ""
    if holder.word == "alternative":
        if holder.tier is Tier.FEBIRD:
            impacts.add(_W)
        elif holder.tier is Tier.ARCHIVE:
            impacts.add(_B)
        why = "; older readers do not know it"
    elif holder.tier is Tier.MEMCPY:
        if not (holder.same_offsets and holder.same_size):
            impacts |= {_W, _L}
            why = "; memcpy bytes have no room for it"
        elif not zero_is_legal(field.type, program):
            impacts.add(_W)
            why = "; older writers send zeros in its place, and zero is none of its values"
    elif holder.tier is Tier.FEBIRD:
        impacts.add(_W)
        why = "; febird bytes have no tags, so readers cannot skip it"
    elif holder.tier is Tier.ARCHIVE and not _may_be_absent(field):
        impacts.add(_W)
        why = "; older bytes do not have it, and it is neither optional nor has a default"
    if holder.word == "parameter":
        impacts.add(_S)
        why = why or "; every servant takes one parameter more"
    code = "B0311" if holder.word == "alternative" else "B0201"
    _report(holder, changes, code, impacts, f"`{field.name}` of {holder.owner} is new{why}", field, None)
    number = field.number
    lows = [low for low, high in holder.old_reserved.numbers if number is not None and low <= number <= high]
    if lows or field.name in holder.old_reserved.names:
        what = f"number {number}" if lows else "the name"
        words = f"{holder.word} `{field.name}` of {holder.owner} uses {what}, which was reserved"
        changes.report("B0210", (_W,), words, field.span, holder.before, holder.paths)


def _removed(holder: Holder, field: model.Field, changes: Changes) -> None:
    impacts = {_S}
    why = ""
    kept = holder.new_reserved
    if holder.tier is Tier.MEMCPY:
        impacts |= {_W, _L}
    elif holder.tier is Tier.FEBIRD:
        impacts.add(_W)
    elif holder.tier is Tier.ARCHIVE:
        number = field.number
        missing = [] if field.name in kept.names else [f'"{field.name}"']
        if number is not None and not any(low <= number <= high for low, high in kept.numbers):
            missing.insert(0, str(number))
        if missing:
            impacts.add(_W)
            why = f"; reserve what old bytes hold: `reserved {', '.join(missing)};`"
        elif not _may_be_absent(field):
            impacts.add(_W)
            why = "; older readers need it"
    code = "B0312" if holder.word == "alternative" else "B0202"
    _report(holder, changes, code, impacts, f"`{field.name}` of {holder.owner} is gone{why}", None, field)


def _kept(holder: Holder, before: model.Field, after: model.Field, changes: Changes) -> None:
    head = f"`{after.name}` of {holder.owner}"
    if before.name != after.name:
        words = f"`{before.name}` of {holder.owner} is called `{after.name}` now"
        _report(holder, changes, "B0204", {_S}, words, after, before)
    elif before.number != after.number and before.number is not None and holder.tier is not None:
        impacts = {_W} if holder.tier is Tier.ARCHIVE or holder.word == "alternative" else set()
        now = after.number if after.number is not None else "none"
        words = f"{head} had the number {before.number}, now {now}"
        _report(holder, changes, "B0206", impacts, words, after, before)
    if dict(before.target_names) != dict(after.target_names):
        words = f"{head} has another name in a target language"
        _report(holder, changes, "B0105", {_S}, words, after, before)
    if not _optional_changed(holder, head, before, after, changes):
        _type(holder, head, before, after, changes)
    if not model.same(before.default, after.default):
        _default(holder, head, before, after, changes)
    for words in tightened(before, after):
        _report(holder, changes, "B0208", {_W}, f"{head} {words}", after, before)


def _optional_changed(
    holder: Holder, head: str, before: model.Field, after: model.Field, changes: Changes
) -> bool:
    was, now = isinstance(before.type, model.OptionalOf), isinstance(after.type, model.OptionalOf)
    if was == now or _bare(before.type) != _bare(after.type):
        return False
    impacts = {_S}
    if holder.tier is Tier.ARCHIVE:
        required = after if was else before
        impacts.add(_W if required.default is None else _B)
    elif holder.tier is not None:
        impacts.add(_W)
    words = f"{head} {'was' if was else 'is'} optional, and {'is not any more' if was else 'was not before'}"
    _report(holder, changes, "B0211", impacts, words, after, before)
    return True


def source_breaks(old: Sequence[model.Field], new: Sequence[model.Field]) -> bool:
    """Whether a common field has a type that code written for the old one cannot use."""
    return any(
        before.type != after.type and not _still_used_as(before.type, after.type)
        for before, after in _pairs(old, new)
        if before is not None and after is not None
    )


def _still_used_as(before: model.Type, after: model.Type) -> bool:
    before, after = uncoded(before), uncoded(after)
    return any(readable_as(before, after, tier) for tier in (Tier.FEBIRD, Tier.ARCHIVE))


def _type(holder: Holder, head: str, before: model.Field, after: model.Field, changes: Changes) -> None:
    """If the tier changed with the type, that finding covers it."""
    if before.type == after.type or holder.tier is None:
        return
    impacts: set[Impact] = set() if _still_used_as(before.type, after.type) else {_S}
    if not readable_as(before.type, after.type, holder.tier):
        impacts.add(_W)
        if holder.tier is Tier.MEMCPY:
            impacts.add(_L)
    words = f"{head} was {model.spell(before.type)}, and is {model.spell(after.type)}"
    _report(holder, changes, "B0205", impacts, words, after, before)


def _default(holder: Holder, head: str, before: model.Field, after: model.Field, changes: Changes) -> None:
    if isinstance(before.type, model.OptionalOf) != isinstance(after.type, model.OptionalOf):
        return  # reported there
    if before.default is None:
        behind = [each for each in holder.new[holder.new.index(after) + 1 :] if not each.may_be_left_out]
        if behind and holder.word == "parameter":  # decision 0015; elsewhere a new default takes nothing away
            words = f"{head} has a default now: callers in Python must name `{behind[0].name}` behind it"
            _report(holder, changes, "B0207", {_S}, words, after, before)
        return
    impacts = {_B}
    gone = after.default is None
    if gone and holder.tier is Tier.ARCHIVE and not isinstance(after.type, model.OptionalOf):
        impacts = {_W}
    if gone and holder.word == "parameter":
        impacts = {_S}
    words = "has no default any more" if gone else "has another default"
    _report(holder, changes, "B0207", impacts, f"{head} {words}", after, before)


def _order(holder: Holder, both: list[tuple[model.Field, model.Field]], changes: Changes) -> None:
    """Reports common fields in another order; `both` is in the newer order."""
    places = [holder.old.index(before) for before, _ in both]
    moved = next((i for i in range(1, len(places)) if places[i] < places[i - 1]), None)
    if moved is None or holder.word == "alternative" or holder.tier is None:
        return
    impacts: set[Impact] = set()
    if holder.tier is Tier.FEBIRD:
        impacts = {_W}
    elif holder.tier is Tier.MEMCPY and not holder.same_offsets:
        impacts = {_W, _L}
    if holder.word != "field":
        impacts.add(_S)
    words = f"{holder.word}s of {holder.owner} stand in another order"
    changes.report("B0203", impacts, words, both[moved][1].span, holder.before, holder.paths, holder.subject)


def _reservations(holder: Holder, changes: Changes) -> None:
    used_numbers = {field.number for field in holder.new}
    used_names = {field.name for field in holder.new}
    kept = holder.new_reserved
    dropped = []
    covered = [*kept.numbers, *((number, number) for number in used_numbers if number is not None)]
    for low, high in _uncovered(holder.old_reserved.numbers, covered):
        dropped.append(str(low) if low == high else f"{low}..{high}")
    for name in holder.old_reserved.names:
        if name not in kept.names and name not in used_names:
            dropped.append(f'"{name}"')
    if dropped:
        words = f"{holder.owner} does not reserve {', '.join(dropped)} any more"
        changes.report("B0209", (_W,), words, holder.here, holder.before, holder.paths)


def _uncovered(
    ranges: Iterable[tuple[int, int]], covered: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The parts of the ranges outside of the covered ones; bounds are inclusive."""
    by_place = sorted(covered)
    for start, last in ranges:
        for low, high in by_place:
            if start < low <= last:
                yield start, low - 1
            if low <= last:
                start = max(start, high + 1)
        if start <= last:
            yield start, last


def _report(
    holder: Holder,
    changes: Changes,
    code: str,
    impacts: set[Impact],
    words: str,
    after: model.Field | None,
    before: model.Field | None,
) -> None:
    here = after.span if after is not None else holder.here
    there = before.span if before is not None else holder.before
    paths = holder.paths if impacts & {_W, _L} else ()
    subject = "" if code == "B0208" else holder.subject  # peers do not know each other's constraints
    changes.report(code, impacts, f"{holder.word} {words}", here, there, paths, subject)


def _may_be_absent(field: model.Field) -> bool:
    """Whether bytes without the field can be decoded: it is optional, has a default, or is a container that
    may be empty."""
    return isinstance(field.type, model.ListOf | model.SetOf | model.MapOf) or field.may_be_left_out


def _bare(type_: model.Type) -> model.Type:
    return type_.element if isinstance(type_, model.OptionalOf) else type_
