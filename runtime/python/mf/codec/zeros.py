"""R1. The value that a field of a type starts with where nothing is said of it."""

from typing import Any

from mf.codec import shape as s
from mf.codec.custom import custom_value
from mf.codec.times import Duration, Timestamp


def zero(shape: s.Shape) -> Any:
    """Of scalars and values of other tiers than archive."""
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
            from uuid import UUID

            return UUID(int=0)
        case s.Scalar(name="timestamp"):
            return Timestamp(0)
        case s.Scalar(name="duration"):
            return Duration(0)
        case s.Struct():  # its class may want to be given some of them
            return shape.make(
                *(_start(each.shape) if each.default is None else each.default() for each in shape.fields)
            )
        case s.Union():
            first = shape.alternatives[0]
            return first.type(_start(first.shape))
        case s.Custom():
            return custom_value(shape.module, shape.codec)
        case _:
            return 0


def _start(shape: s.Shape) -> Any:
    """The same of any type."""
    while isinstance(shape, s.Checked):
        shape = shape.shape
    match shape:
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
