"""R1. Values of archive messages that have come to their end: what was found, or else what stands for it."""

import uuid
from typing import TYPE_CHECKING, Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import bare, is_message, is_wrapped
from mf.codec.careful_archive_open import Form, Open, Place, open_message, rules_of
from mf.codec.fault import Fault

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader

_new: Final = object.__new__


def finish(r: "CarefulReader", opened: Open, shape: s.Shape, target: Any = None) -> Any:
    """The value, when nothing of the message can follow."""
    match bare(shape):
        case s.Union() as union:
            return _finish_union(r, opened, union, target)
        case s.Struct() as struct:
            value = _new(struct.make) if target is None else target  # type: ignore[arg-type] # a class
            for place in opened.places.values():
                r._path.field(place.name)
                setattr(value, place.attribute, _finish_place(r, opened, place))
                r._path.back()
            unknown = bytes(opened.unknown)
            r.charge(200 if unknown and r._reading else 0)
            value.__mf_unknown__ = r._reading.kept(unknown) if unknown and r._reading else unknown
            return value
        case _:
            return _finish_place(r, opened, opened.places[1])


def _finish_union(r: "CarefulReader", opened: Open, union: s.Union, target: Any) -> Any:
    for each in union.alternatives:
        found = opened.made.get(each.number, opened.values.get(each.number, opened))
        if each.number in opened.made or each.number in opened.values:
            r._path.field(each.name)
            _keep(r, opened, opened.places[each.number], found)
            r._path.back()
            if target is None:
                return each.type(found)
            target.value = found
            return target
        if each.number in opened.inner:  # the last part was of another alternative, and did not count
            r._path.field(each.name)
            made = finish(r, opened.inner[each.number], each.shape)
            _keep(r, opened, opened.places[each.number], made)
            r._path.back()
            return each.type(made)
    fault = Fault.UNKNOWN_ALTERNATIVE if opened.any else Fault.MISSING_FIELD
    raise r.fail(fault, f"no alternative of {union.name} is there", opened.end - r._base)


def _finish_place(r: "CarefulReader", opened: Open, place: Place) -> Any:
    end = opened.end - r._base
    found = opened.values.get(place.number)
    if place.form == Form.SINGLE:
        if place.number in opened.made:
            return _keep(r, opened, place, opened.made[place.number])
        if place.number in opened.inner:
            return _keep(r, opened, place, finish(r, opened.inner[place.number], place.shape))
        if place.number in opened.values:
            return _keep(r, opened, place, found)
        if place.optional:
            return None
    elif found or not isinstance(place.shape, s.Array):
        r.violate(opened.wrong.get(place.number))
        return r._checked(place.rules, _container(r, place.shape, found or [], end), end)
    if place.default is not None:
        return place.default()
    raise r.fail(Fault.MISSING_FIELD, "it is missing", end)


def _keep(r: "CarefulReader", opened: Open, place: Place, found: Any) -> Any:
    """What nothing supersedes any more. Scalars have been held against their rules where they stand."""
    r.violate(opened.wrong.get(place.number))
    if is_wrapped(place.shape):
        return r._checked(rules_of(place.shape), found, opened.end - r._base)
    return found


def _container(r: "CarefulReader", shape: s.Shape, found: list[Any], end: int) -> Any:
    match shape:
        case s.Set():
            return set(found)
        case s.Map():
            for wrong in {key: wrong for key, _, wrong in found}.values():
                r.violate(wrong)
            return {key: value for key, value, _ in found}
        case s.Array(length=length) if len(found) != length:
            reason = f"expected exactly {length} elements, got {len(found)}"
            raise r.fail(Fault.WRONG_LENGTH, reason, end)
        case _:
            return found


def there(r: "CarefulReader", entry: Open, place: Place, at: int) -> Any:
    """The key or value of an entry; its zero if it is not there, which constraints hold as well. `at`: where
    the entry begins, for which memory may be too short.
    """
    if place.number in entry.made:
        return _keep(r, entry, place, entry.made[place.number])
    if place.number in entry.values:
        return _keep(r, entry, place, entry.values[place.number])
    rules, shape = place.rules, place.shape
    while isinstance(shape, s.Checked):
        rules, shape = [*rules, *shape.rules], shape.shape
    return r._checked(rules, _unsent(r, entry, bare(shape), at), r.pos)


def _unsent(r: "CarefulReader", entry: Open, shape: s.Shape, at: int) -> Any:
    if isinstance(shape, s.Struct | s.Union | s.Custom):
        r.charge(sizes.memory(shape), at)  # no bytes pay for it: an array in it may have millions of elements
    if is_message(shape):
        return finish(r, open_message(r, shape, [(entry.end, entry.end)]), shape)
    match shape:
        case s.Enum():
            return r._member(shape, 0, r.pos)
        case s.Ref(element=element):
            return object_at(r, element, 0, r.pos)
        case _:
            return zero(shape)


def zero(shape: s.Shape) -> Any:
    """What a field that has no default of its own starts with; of scalars and values of other tiers."""
    match shape:
        case s.Scalar(name="bool"):
            return False
        case s.Scalar(name="f32" | "f64"):
            return 0.0
        case s.Scalar(name="string"):
            return ""
        case s.Scalar(name="bytes"):
            return b""
        case s.Scalar(name="uuid"):
            return uuid.UUID(int=0)
        case s.Scalar(name="timestamp" | "duration"):
            from mf.codec.times import Duration, Timestamp

            return Timestamp(0) if shape.name == "timestamp" else Duration(0)
        case s.Struct():  # its class may want to be given some of them
            return shape.make(
                *(_start(each.shape) if each.default is None else each.default() for each in shape.fields)
            )
        case s.Union():
            first = shape.alternatives[0]
            return first.type(_start(first.shape))
        case s.Custom():
            from mf.codec.custom import custom_value

            return custom_value(shape.module, shape.codec)
        case _:
            return 0


def _start(shape: s.Shape) -> Any:
    """The same of any type."""
    match bare(shape):
        case s.Enum(values=values):
            return values[0] if 0 in values else next(iter(values.values()))
        case s.List():
            return []
        case s.Set():
            return set()
        case s.Map():
            return {}
        case s.Optional() | s.Ref():
            return None
        case s.Array(element=element, length=length):
            return [_start(element) for _ in range(length)]
        case plain:
            return zero(plain)


def object_at(r: "CarefulReader", element: s.Shape, number: int, at: int) -> Any:
    assert isinstance(element, s.Struct | s.Union)
    objects = r._tables.get(element, [])
    if number >= len(objects):
        reason = f"{number} is behind the end of the table of {element.name}, which has {len(objects)}"
        raise r.fail(Fault.INVALID_REFERENCE, reason, at)
    return objects[number]
