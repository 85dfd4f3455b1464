"""R1. Tier custom: values that a codec of the user's writes and reads (docs/generated-code.md).

`@python.codec("geo.codec:Codec")` names it. It is imported when the first value is made, written or read.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final, ForwardRef

from mf.core.error import Code, Error, Execution


class UserCodec:
    """What is called of a user's codec: plain functions, and the type of its values."""

    __slots__ = ("decode", "encode", "make")

    def __init__(
        self, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], make: Callable[[], Any]
    ) -> None:
        self.encode: Final = encode
        self.decode: Final = decode
        self.make: Final = make


def custom_value(module: str, name: str) -> Any:
    """What a field of the type starts with: `Codec.Value()`; None where the codec has no `Value`."""
    return user_codec(module, name).make()


def custom_type(module: str, name: str) -> ForwardRef:
    """What generated code calls the type at run time: `typing.get_type_hints` makes the codec's `Value` of
    it, and imports the codec then."""
    return ForwardRef(f"value_of({module!r}, {name!r})", module=__name__)


def value_of(module: str, name: str) -> Any:
    """The type of the values; `object` where the codec does not say."""
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return getattr(found, "Value", object)


@cache
def user_codec(module: str, name: str) -> UserCodec:
    """Raises Error(INTERNAL) with what is wrong if there is none."""
    shown = f"{module}:{name}"
    if not module:
        raise _unusable('the schema names no codec for Python: add @python.codec("module:Codec")')
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise _unusable(f"the codec {shown} cannot be imported: {error!r}") from error
    if isinstance(found, type) and not _is_complete(found):
        try:
            found = found()
        except Exception as error:
            raise _unusable(f"the codec {shown} cannot be made without arguments: {error!r}") from error
    try:
        return UserCodec(found.encode, found.decode, getattr(found, "Value", _nothing))
    except AttributeError as error:
        raise _unusable(f"{shown} is no codec: it needs encode and decode; {error}") from error


def _nothing() -> None:
    return None


def _is_complete(codec: type) -> bool:
    """Whether its functions are called on the class itself."""
    own = {name: each for base in reversed(codec.__mro__) for name, each in vars(base).items()}
    return all(isinstance(own.get(name), staticmethod | classmethod) for name in ("encode", "decode"))


def _unusable(reason: str) -> Error:
    return Error(Code.INTERNAL, reason, Execution.NOT_EXECUTED)
