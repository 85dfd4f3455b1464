"""R1. Has the native codec make objects of generated classes, whose `__init__` only fills their slots: a call
of Python for each object takes longer than writing it.

Nothing of a class changes but how it is called: signature, errors and derived classes stay Python's. A class
whose `__init__` does anything else, or is replaced later, is called as before.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from mf.core.archive_struct import ArchiveStruct
from mf.core.plain_struct import FRESH, PlainStruct

_NONE: Final = ...
"""There is no default."""
_VARIABLE: Final = 0x04 | 0x08  # co_flags: it takes *args or **kwargs


def construct(native: Callable[..., bool], kind: type) -> None:
    """Called for each class of a type, before the first value of it is read or written natively."""
    code = getattr(vars(kind).get("__init__"), "__code__", None)
    is_plain = issubclass(kind, PlainStruct)
    if is_plain and code is not None and not code.co_flags & _VARIABLE:
        _construct(native, kind)


@cache  # of generated classes alone: those that are made for a schema of a peer take *values, and may go away
def _construct(native: Callable[..., bool], kind: type) -> None:
    init: Any = vars(kind)["__init__"]
    code = init.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    attributes = tuple(getattr(kind, "__match_args__", ()))
    kept = ("__mf_unknown__",) if issubclass(kind, ArchiveStruct) else ()
    if not _only_fills(kind, names, attributes, kept):
        return
    positional = code.co_argcount - 1
    given = dict(zip(reversed(names[:positional]), reversed(init.__defaults__ or ()), strict=False))
    given |= init.__kwdefaults__ or {}
    defaults = [given.get(name, _NONE) for name in names]
    slots = tuple(slot_of(kind, name) for name in (*attributes, *kept))
    native(
        kind,
        init,
        names,
        slots,
        (*defaults, *[b""] * len(kept)),
        FRESH,
        positional,
    )


def slot_of(kind: Any, name: str) -> Any:
    """What a class has under this name; None: nothing, or `kind` is no class."""
    bases = kind.__mro__ if isinstance(kind, type) else ()
    return next((vars(base)[name] for base in bases if name in vars(base)), None)


def _only_fills(
    kind: type, names: tuple[str, ...], attributes: tuple[str, ...], kept: tuple[str, ...]
) -> bool:
    """Whether a call with arguments of no particular class keeps each of them as it is. No other names occur
    in it, but those of what it makes where an argument is not given."""
    init = vars(kind)["__init__"]
    code = init.__code__
    others = {*code.co_names} - {*attributes, *kept}
    makes_fresh = any(init.__globals__.get(name) is FRESH for name in others)
    if len(names) != len(attributes) or (others and not makes_fresh):
        return False
    marks = [object() for _ in names]
    positional = code.co_argcount - 1
    try:
        made = kind(*marks[:positional], **dict(zip(names[positional:], marks[positional:], strict=True)))
    except Exception:  # an __init__ of the user's may raise anything
        return False
    values = [getattr(made, name, None) for name in attributes]
    return all(value is mark for value, mark in zip(values, marks, strict=True)) and all(
        getattr(made, name, None) == b"" for name in kept
    )
