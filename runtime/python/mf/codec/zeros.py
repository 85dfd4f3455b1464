"""R1. The value that a field of a type starts with where nothing is said of it."""

from typing import Any, Final

from mf.codec import shape as s
from mf.codec.contents import bare
from mf.codec.custom import custom_value
from mf.codec.times import Duration, Timestamp

_SCALARS: Final[dict[str, Any]] = {
    "bool": False,
    "f32": 0.0,
    "f64": 0.0,
    "string": "",
    "bytes": b"",
    "timestamp": Timestamp(0),
    "duration": Duration(0),
}
_EMPTY: Final[dict[type, type]] = {s.List: list, s.Set: set, s.Map: dict}


def zero(shape: s.Shape) -> Any:
    match bare(shape):
        case s.Scalar(name="uuid"):
            from uuid import UUID

            return UUID(int=0)
        case s.Scalar(name=name):
            return _SCALARS.get(name, 0)
        case s.Enum(values=values):
            return values[0] if 0 in values else next(iter(values.values()))
        case s.Array(element=element, length=length):
            return [zero(element) for _ in range(length)]
        case s.Struct() as struct:  # its class may want to be given some of them
            return struct.make(*map(_start, struct.fields))
        case s.Union() as union:
            first = union.alternatives[0]
            return first.type(zero(first.shape))
        case s.Custom(module=module, codec=codec):
            return custom_value(module, codec)
        case plain:
            return _EMPTY[type(plain)]() if type(plain) in _EMPTY else None


def _start(field: s.Field) -> Any:
    return zero(field.shape) if field.default is None else field.default()
