"""R1. What a type is made of: whether it has constraints, and what is under them."""

from mf.codec import shape as s
from mf.codec.flags import Flags


def bare(shape: s.Shape) -> s.Shape:
    """Without its constraints."""
    while isinstance(shape, s.Checked):
        shape = shape.shape
    return shape


def is_flags(shape: s.Enum) -> bool:
    return isinstance(shape.type, type) and issubclass(shape.type, Flags)


def scalar_of(shape: s.Shape) -> s.Scalar | None:
    """The built-in type that it is on the wire, of an enum its base; None: it is no scalar."""
    plain = bare(shape)
    if isinstance(plain, s.Enum):
        return plain.base
    return plain if isinstance(plain, s.Scalar) else None


def classes_of(shape: s.Composite) -> tuple[type, ...]:
    """Of its values; `object` where it is not known."""
    if isinstance(shape, s.Union):
        return tuple(each.type if isinstance(each.type, type) else object for each in shape.alternatives)
    return (shape.type if isinstance(shape, s.Struct) else object,)


def constrained(shape: s.Shape) -> bool:
    """Whether it, or what a value holds, has constraints."""
    if isinstance(shape, s.Struct | s.Union):
        return _is_constrained(shape)
    if isinstance(shape, s.Ref):
        return False
    return isinstance(shape, s.Checked) or any(map(constrained, s.inside(shape)))


@s.kept
def _is_constrained(root: s.Struct | s.Union) -> bool:
    met: set[s.Composite] = {root}
    waiting: list[s.Composite] = [root]
    for at in waiting:  # grows while it is gone through
        if any(map(_has_rules, at.shapes)):
            return True
        waiting += (more := dict.fromkeys(each for each in at.inner if each not in met))
        met.update(more)
    return False


def _has_rules(shape: s.Shape) -> bool:
    """Itself, whatever the structs in it have."""
    return isinstance(shape, s.Checked) or any(map(_has_rules, s.inside(shape)))
