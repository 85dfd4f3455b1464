"""R1. From a class, as programs know it, to its codec.

Generated classes live in `<package>._types`, and their codecs beside them in `<package>._codec`: that module
is imported when one of them is first asked for. Wherever the package has been put, the two stay together.

    codec_of(Hit)                   a struct or an error
    codec_of(Value)                 a union, or a class of one of its alternatives
    codec_of(Lang)                  an enum or flags
    codec_of(Geo)                   the type of values of a user's codec (tier custom)
    codec_of(list[Hit])             also set, dict, `| None`, with str, bytes, bool, UUID, Timestamp, Duration
    codec_of(shape.List(shape.I32)) any shape (mf.codec.shape): Python's int and float do not say how wide
    codec_of(list[Annotated[int, shape.I32]])   the same, in words that type checkers know
"""

import builtins
from importlib import import_module
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Final, ForwardRef, TypeVar, get_args, get_origin, overload
from typing import Union as AnyOf

from mf.codec import shape as s
from mf.codec.codec import Codec, TypeCodec
from mf.codec.times import Duration, Timestamp
from mf.core.error import Error

T = TypeVar("T")

_BUILT_IN: Final[dict[Any, s.Shape]] = {
    str: s.STRING,
    bytes: s.BYTES,
    bool: s.BOOL,
    Timestamp: s.TIMESTAMP,
    Duration: s.DURATION,
}
_CONTAINERS: Final = (list, set, dict)
known: Final[dict[Any, Codec[Any, Any]]] = {}  # what has been asked for; threads may find a codec twice


@overload
def codec_of(kind: type[T], /) -> TypeCodec[T]: ...
@overload
def codec_of(kind: Any, /) -> TypeCodec[Any]: ...  # unions and shapes
def codec_of(kind: Any, /) -> TypeCodec[Any]:
    """The codec of the type `kind`, always the same one. Raises TypeError with what to write instead."""
    try:
        found = known.get(kind)
    except TypeError:  # it cannot be hashed, so it is no type
        raise _unknown(kind) from None
    if found is None:
        found = known[kind] = _declared(kind) or _wrapped(shape_of(kind))
    return found


def shape_of(kind: Any) -> s.Shape:
    """What a type looks like on the wire."""
    if isinstance(kind, s.Shape):
        return kind
    built_in = _BUILT_IN.get(kind)
    if built_in is not None:
        return built_in
    if isinstance(kind, GenericAlias | UnionType) or get_origin(kind) is not None:
        return _composed(kind)
    declared = _declared(kind)
    if declared is not None:
        return declared.shape
    return _other(kind)


def _composed(kind: Any) -> s.Shape:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return next((each for each in parts[1:] if isinstance(each, s.Shape)), None) or shape_of(parts[0])
    if origin is list:
        return s.List(shape_of(parts[0]))
    if origin is set:
        return s.Set(shape_of(parts[0]))
    if origin is dict:
        return s.Map(shape_of(parts[0]), shape_of(parts[1]))
    if origin in (UnionType, AnyOf):
        return _alternatives(kind, parts)
    raise _unknown(kind)


def _alternatives(kind: Any, parts: tuple[Any, ...]) -> s.Shape:
    """`Value`, which is all classes of a union's alternatives, or `Hit | None`."""
    present = [each for each in parts if each is not NoneType]
    declared = _declared(present[0])
    if declared is not None and isinstance(declared.shape, s.Union):
        known = {each.type for each in declared.shape.alternatives}
        if set(present) != known:
            raise TypeError(f"{kind} is not the whole of the union {declared.shape.name}")
        whole: s.Shape = declared.shape
    elif len(present) == 1:
        whole = shape_of(present[0])
    else:
        raise _unknown(kind)
    return whole if len(present) == len(parts) else s.Optional(whole)


def _other(kind: Any) -> s.Shape:
    if getattr(kind, "__module__", "") == "uuid" and getattr(kind, "__name__", "") == "UUID":
        return s.UUID
    if kind in (int, float):
        name = kind.__name__
        raise TypeError(
            f"{name} does not say how wide it is: use a shape of mf.shape, or Annotated[{name}, "
            f"mf.shape.{'I32' if kind is int else 'F64'}]"
        )
    number = next((each for each in _beside(kind) if isinstance(each, s.Enum) and each.type is kind), None)
    found = number or (_custom(kind) if isinstance(kind, type) else None)
    if found is None:
        raise _unknown(kind)
    return found


def _custom(kind: type) -> s.Custom | None:
    """Of the values of a user's codec, if its schema has been imported, and no other codec has the class."""
    from mf.codec.custom import user_codec

    found: dict[tuple[str, str], s.Custom] = {}
    for each in s.CUSTOMS:
        try:
            made = user_codec(each.module, each.codec).make
        except Error:
            continue  # reported to the caller that needs this codec
        if made in kind.__mro__ and made not in vars(builtins).values():
            found.setdefault((each.module, each.codec), each)
    if len(found) > 1:
        names = ", ".join(sorted(each.name for each in found.values()))
        raise TypeError(
            f"{kind.__qualname__} is the type of several codecs ({names}): give the shape of one instead, "
            "which is the attribute `shape` of its generated ..._CODEC"
        )
    return next(iter(found.values()), None)


def _unknown(kind: Any) -> TypeError:
    if isinstance(kind, ForwardRef):
        return TypeError(
            "this is a name that type checkers follow, of a type of tier custom: give the class itself, "
            "or the attribute `shape` of the generated ..._CODEC"
        )
    if isinstance(kind, bytes | bytearray | memoryview):
        return TypeError("these are bytes, and the type comes first: mf.from_bytes(Hit, data)")
    if isinstance(kind, type) and kind in _CONTAINERS:
        name = kind.__name__
        example = "dict[str, Hit]" if kind is dict else f"{name}[Hit]"
        return TypeError(
            f"{name} does not say what is in it: give {example}, as in mf.to_bytes(values, {example}), or a "
            "shape of mf.shape"
        )
    if isinstance(kind, type) and issubclass(kind, type):
        return TypeError("this is a class, and a value is expected: give an object of it")
    if isinstance(type(kind).__dict__.get("__match_args__"), tuple):
        name = type(kind).__qualname__
        return TypeError(f"this is a value of {name}, and a type is expected: give {name} itself")
    shown = getattr(kind, "__qualname__", None) or str(kind)
    return TypeError(
        f"{shown} has no codec: expected a type that mfidlc generated, a list, set, dict or "
        "`| None` of them, or a shape of mf.shape"
    )


def _declared(kind: Any) -> Codec[Any, Any] | None:
    """Of a struct, an error or a union, where the generated code has it; of classes derived from one too."""
    if isinstance(kind, UnionType) and NoneType not in kind.__args__:
        codec = _declared(kind.__args__[0])
        shape = None if codec is None else codec.shape
        whole = isinstance(shape, s.Union) and {each.type for each in shape.alternatives} == set(
            kind.__args__
        )
        return codec if whole else None
    for each in _beside(kind):
        if isinstance(each, Codec) and _is_of(each.shape, kind):
            return each
    return None


def _is_of(shape: s.Composite, kind: Any) -> bool:
    bases = kind.__mro__
    if isinstance(shape, s.Union):
        return any(each.type in bases for each in shape.alternatives)
    return getattr(shape, "type", None) in bases


def _beside(kind: Any) -> list[Any]:
    """What the `_codec` module beside a generated class holds."""
    if not isinstance(kind, type):
        return []
    found: list[Any] = []
    for base in kind.__mro__:
        package, _, file = base.__module__.rpartition(".")
        if file == "_types":
            found += vars(import_module(f"{package}._codec")).values()
    return found


def _wrapped(shape: s.Shape) -> Codec[Any, Any]:
    """What is no struct or union is written as the only field of one: memcpy with a layout, else febird."""
    if isinstance(shape, s.Composite):
        return Codec(shape)
    from mf.codec.sizes import has_layout

    fields, memcpy = (s.Field("", shape, "value"),), has_layout(shape)
    bare = s.Struct("value", s.bare_made, lambda: fields, memcpy=memcpy, implicit=True, parts=s.bare_parts)
    return Codec(bare)
