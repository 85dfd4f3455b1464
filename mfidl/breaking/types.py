"""F6. Compares declarations of the same name in two programs."""

from mfidl import model
from mfidl.breaking.change import Changes
from mfidl.breaking.fields import Holder, compare_fields, source_breaks
from mfidl.breaking.reach import Reach
from mfidl.breaking.rules import Impact
from mfidl.model import Tier
from mfidl.source import Span

_W, _L, _S, _B = Impact.WIRE, Impact.LAYOUT, Impact.SOURCE, Impact.BEHAVIOUR

Fielded = model.Struct | model.Union


def compare_declarations(
    old: model.Declaration, new: model.Declaration, program: model.Program, reach: Reach, changes: Changes
) -> None:
    """`program` and `reach` are of the newer one."""
    name = new.full_name
    if _kind(old) != _kind(new):
        words = f"`{name}` was {_kind(old)}, and is {_kind(new)}"
        changes.report("B0103", (_W, _L, _S), words, new.span, old.span, reach.paths(name))
        return
    _target_names(old, new, changes)
    match old, new:
        case model.Struct(), model.Struct():
            _structs(old, new, program, reach, changes)
        case model.Union(), model.Union():
            _fields(old, new, old.alternatives, new.alternatives, "alternative", program, reach, changes)
        case model.Enum(), model.Enum():
            _enums(old, new, reach, changes)
        case model.Flags(), model.Flags():
            _flags(old, new, reach, changes)
        case model.Alias(), model.Alias() if old.type != new.type:
            words = f"alias `{name}` was {model.spell(old.type)}, and is {model.spell(new.type)}"
            changes.report("B0205", (_S,), words, new.span, old.span)
        case _:
            pass


def _kind(declaration: model.Declaration) -> str:
    match declaration:
        case model.Struct():
            return "an error" if declaration.is_error else "a struct"
        case model.Union():
            return "a union"
        case model.Enum():
            return "an enum"
        case model.Flags():
            return "flags"
        case model.Alias():
            return "an alias"


def _target_names(old: model.Declaration, new: model.Declaration, changes: Changes) -> None:
    same = dict(old.target_names) == dict(new.target_names)
    if isinstance(old, model.Struct) and isinstance(new, model.Struct):
        same = same and old.cpp_type == new.cpp_type
    if isinstance(old, model.Alias) and isinstance(new, model.Alias):
        same = same and old.cpp_view == new.cpp_view
    if not same:
        words = f"`{new.full_name}` has another name or type in a target language"
        changes.report("B0105", (_S,), words, new.span, old.span)


def _structs(
    old: model.Struct, new: model.Struct, program: model.Program, reach: Reach, changes: Changes
) -> None:
    if (old.cpp_codec, old.python_codec) != (new.cpp_codec, new.python_codec) and old.tier is new.tier:
        words = f"struct `{new.full_name}` names another codec"
        changes.report("B0502", (_W, _S), words, new.span, old.span, reach.paths(new.full_name))
    word = "field"
    _fields(old, new, old.fields, new.fields, word, program, reach, changes)


def _fields(
    old: Fielded,
    new: Fielded,
    old_fields: tuple[model.Field, ...],
    new_fields: tuple[model.Field, ...],
    word: str,
    program: model.Program,
    reach: Reach,
    changes: Changes,
) -> None:
    paths = reach.paths(new.full_name)
    owner = f"{_kind(new).split()[-1]} `{new.full_name}`"
    changed_itself = old.asked_tier is not new.asked_tier or _shape(old_fields) != _shape(new_fields)
    if old.tier is not new.tier and changed_itself:
        impacts = {_W} | ({_L} if Tier.MEMCPY in (old.tier, new.tier) else set())
        if source_breaks(old_fields, new_fields):
            impacts.add(_S)
        words = f"{owner} was {old.tier.value}, and is {new.tier.value}: {new.plan.reason}"
        changes.report("B0501", impacts, words, new.span, old.span, paths, new.full_name)
    same = old.tier if old.tier is new.tier else None
    holder = _holder(new.full_name, owner, word, same, old_fields, new_fields, old, new, paths)
    compare_fields(holder, program, changes)


def _shape(fields: tuple[model.Field, ...]) -> list[tuple[str, str]]:
    return [(field.name, model.spell(field.type)) for field in fields]


def _holder(
    subject: str,
    owner: str,
    word: str,
    tier: Tier | None,
    old_fields: tuple[model.Field, ...],
    new_fields: tuple[model.Field, ...],
    old: Fielded,
    new: Fielded,
    paths: tuple[str, ...],
) -> Holder:
    before, after = old.plan.layout, new.plan.layout
    return Holder(
        subject,
        owner,
        word,
        tier,
        old_fields,
        new_fields,
        old.reserved,
        new.reserved,
        same_offsets=before is not None and after is not None and _same_offsets(before, after),
        same_size=before is not None and after is not None and before.size == after.size,
        here=new.span,
        before=old.span,
        paths=paths,
    )


def _same_offsets(before: model.Layout, after: model.Layout) -> bool:
    places = {slot.name: slot.offset for slot in after.slots}
    return all(places.get(slot.name, slot.offset) == slot.offset for slot in before.slots)


def compare_implicit(
    old: model.Struct,
    new: model.Struct,
    subject: str,
    owner: str,
    word: str,
    program: model.Program,
    changes: Changes,
) -> None:
    """Parameters or results of a method of the service `subject`. Their tier follows from the fields, so it
    is never a finding of its own.
    """
    tier = new.tier if old.tier is new.tier else Tier.FEBIRD
    holder = _holder(subject, owner, word, tier, old.fields, new.fields, old, new, ())
    compare_fields(holder, program, changes)


# Enums and flags --------------------------------------------------------------------------------------------


def _enums(old: model.Enum, new: model.Enum, reach: Reach, changes: Changes) -> None:
    paths = reach.paths(new.full_name)
    owner = f"enum `{new.full_name}`"
    _width(old.base, new.base, owner, (old.span, new.span), paths, new.full_name, changes)
    if old.open != new.open:
        impacts = (_S, _B) if new.open else (_W, _S)
        words = f"{owner} is {'open' if new.open else 'closed'} now"
        changes.report("B0305", impacts, words, new.span, old.span, () if new.open else paths)
    before = {member.name: (member.number, member.span) for member in old.members}
    after = {member.name: (member.number, member.span) for member in new.members}
    closed = not (old.open and new.open)
    _members(owner, before, after, closed, (old.span, new.span), paths, changes)


def _flags(old: model.Flags, new: model.Flags, reach: Reach, changes: Changes) -> None:
    paths = reach.paths(new.full_name)
    owner = f"flags `{new.full_name}`"
    _width(old.base, new.base, owner, (old.span, new.span), paths, new.full_name, changes)
    before = {member.name: (member.bit, member.span) for member in old.members}
    after = {member.name: (member.bit, member.span) for member in new.members}
    _members(owner, before, after, False, (old.span, new.span), paths, changes)


_Members = dict[str, tuple[int, Span | None]]


def _members(
    owner: str,
    before: _Members,
    after: _Members,
    closed: bool,
    spans: tuple[Span | None, Span | None],
    paths: tuple[str, ...],
    changes: Changes,
) -> None:
    old_names = {number: name for name, (number, _) in before.items()}
    renamed = {}
    for name, (number, span) in after.items():
        other = old_names.get(number)
        if name in before:
            if before[name][0] != number:
                words = f"member `{name}` of {owner} was {before[name][0]}, and is {number}"
                changes.report("B0303", (_W,), words, span, before[name][1], paths)
        elif other is not None and other not in after:
            renamed[other] = name
            words = f"member `{other}` of {owner} is called `{name}` now"
            changes.report("B0306", (_S,), words, span, before[other][1])
        elif closed:
            words = f"member `{name}` of closed {owner} is new; older readers refuse it"
            changes.report("B0301", (_W,), words, span, spans[0], paths)
    for name, (_, span) in before.items():
        if name not in after and name not in renamed:
            impacts = (_W, _S) if closed else (_S,)
            words = f"member `{name}` of {owner} is gone"
            changes.report("B0302", impacts, words, spans[1], span, paths if closed else ())


def _width(
    old: model.Primitive,
    new: model.Primitive,
    owner: str,
    spans: tuple[Span | None, Span | None],
    paths: tuple[str, ...],
    subject: str,
    changes: Changes,
) -> None:
    if old != new:
        words = f"{owner} was {old.scalar.value} wide, and is {new.scalar.value}"
        changes.report("B0304", (_W, _L), words, spans[1], spans[0], paths, subject)
