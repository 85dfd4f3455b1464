"""R1. What Python asks of objects that refer to others: are they equal, and what do they look like.

References are followed by loops, so that chains may be long and cycles end. What an object holds by value is
part of it, as everywhere.
"""

from collections.abc import Iterator
from typing import Any

from mf.codec import shape as s
from mf.codec.archive_form import refers
from mf.codec.contents import bare
from mf.codec.graph_walk import loose_of

Composite = s.Struct | s.Union


def shape_of(value: Any) -> Composite:
    from mf.codec.lookup import codec_of

    found = codec_of(type(value)).shape
    assert isinstance(found, s.Struct | s.Union)
    return found


def _parts(shape: Composite, value: Any) -> Iterator[tuple[s.Shape, Any]]:
    """Shapes and values of what an object holds."""
    if isinstance(shape, s.Struct):
        for each in shape.fields:
            yield each.shape, getattr(value, each.attribute)
        return
    for alternative in shape.alternatives:
        if type(value) is alternative.type:
            yield alternative.shape, value.value


# --- equality: the same objects, referred to from the same places


def equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    shape = shape_of(first)
    comparison = _Comparison()
    try:
        return comparison.same_object(shape, first, second) and comparison.all()
    except (AttributeError, KeyError, TypeError):
        return False  # a value that is not what its type says


class _Comparison:
    def __init__(self) -> None:
        self._partner: dict[int, Any] = {}
        self._reverse: dict[int, Any] = {}
        self._waiting: list[tuple[Composite, Any, Any]] = []

    def same_object(self, shape: Composite, first: Any, second: Any) -> bool:
        """As far as is known now: whether they refer to the same is seen in `all`."""
        known = self._partner.get(id(first))
        if known is not None or id(second) in self._reverse:
            return known is second and self._reverse.get(id(second)) is first
        self._partner[id(first)] = second
        self._reverse[id(second)] = first
        self._waiting.append((shape, first, second))
        return True

    def all(self) -> bool:
        return all(self._same_parts(*each) for each in self._waiting)  # grows while it is gone through

    def _same_parts(self, shape: Composite, first: Any, second: Any) -> bool:
        if type(first) is not type(second):
            return False
        if getattr(first, "__mf_unknown__", b"") != getattr(second, "__mf_unknown__", b""):
            return False
        if not self._same_loose(shape, first, second):
            return False
        parts = zip(_parts(shape, first), _parts(shape, second), strict=True)
        return all(self._same(part, one, other) for (part, one), (_, other) in parts)

    def _same_loose(self, shape: Composite, first: Any, second: Any) -> bool:
        ours, theirs = (loose_of(shape.tables.values(), each) for each in (first, second))
        return len(ours) == len(theirs) and all(
            inner is other and self.same_object(inner, one, two)
            for (inner, one), (other, two) in zip(ours, theirs, strict=True)
        )

    def _same(self, shape: s.Shape, first: Any, second: Any) -> bool:
        if first is None or second is None:
            return first is second
        plain = bare(shape)
        match plain:
            case s.Ref(element=s.Struct() | s.Union() as element):
                return self.same_object(element, first, second)
            case s.Optional(element=element):
                return self._same(element, first, second)
            case s.List(element=element) | s.Array(element=element) if refers(element):
                return len(first) == len(second) and all(
                    self._same(element, one, other) for one, other in zip(first, second, strict=True)
                )
            case s.Map(value=element) if refers(element):
                return first.keys() == second.keys() and all(
                    self._same(element, first[key], second[key]) for key in first
                )
            case s.Struct() | s.Union() if plain.tables:
                return self._same_parts(plain, first, second)
            case _:
                return bool(first == second)


# --- texts: what is referred to shows its class alone


def shown(value: Any) -> str:
    shape = shape_of(value)
    name = type(value).__qualname__
    if isinstance(shape, s.Union):
        ((inner, held),) = _parts(shape, value)
        return f"{name}(value={_shown(inner, held)})"
    fields = (
        f"{each.attribute}={_shown(each.shape, getattr(value, each.attribute))}" for each in shape.fields
    )
    return f"{name}({', '.join(fields)})"


def _shown(shape: s.Shape, value: Any) -> str:
    match bare(shape):
        case s.Ref() if value is not None:
            return f"<{type(value).__qualname__}>"
        case s.Optional(element=element) if value is not None:
            return _shown(element, value)
        case s.List(element=element) | s.Array(element=element) if refers(element) and isinstance(
            value, (list, tuple)
        ):
            return f"[{', '.join(_shown(element, each) for each in value)}]"
        case s.Map(value=element) if refers(element) and isinstance(value, dict):
            return f"{{{', '.join(f'{key!r}: {_shown(element, each)}' for key, each in value.items())}}}"
        case _:
            return repr(value)
