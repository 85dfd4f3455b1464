"""R1. The codecs without calls: one value to bytes and back, in the tier that the schema planned for it.

    data = mf.to_bytes(hit)                 hit = mf.from_bytes(Hit, data)
    data = mf.to_bytes(hits, list[Hit])     hits = mf.from_bytes(list[Hit], data)

What `codec_of` (mf.codec.lookup) takes can be written and read. Its codec is also the place for many values
(`encode_all`, `decode_all`) and for other limits than the default (`within`).
"""

from typing import Any, TypeVar, overload

from mf.codec.codec import Buffer
from mf.codec.lookup import codec_of, known

T = TypeVar("T")


def to_bytes(value: Any, kind: Any = None, /) -> bytes:
    """The bytes of `value`, in the tier that its schema has planned.

    Args:
        value: An object of a generated class, or of what `kind` says.
        kind: Its type where the class does not say it: lists, sets, dicts, numbers. Defaults to None: the
            class of `value`.

    Raises:
        Error: INVALID_ARGUMENT with the field and the reason.
        TypeError: The type has no codec.
    """
    kind = value.__class__ if kind is None else kind
    data = (known.get(kind) or codec_of(kind)).encode(value)
    return data if type(data) is bytes else bytes(data)


@overload
def from_bytes(kind: type[T], data: Buffer, /, *, arrays: bool = False) -> T: ...
@overload
def from_bytes(kind: Any, data: Buffer, /, *, arrays: bool = False) -> Any: ...  # unions and shapes
def from_bytes(kind: Any, data: Buffer, /, *, arrays: bool = False) -> Any:
    """The only value in `data`.

    Args:
        kind: Its type: a generated class, a union, `list[Hit]`, or a shape of `mf.shape`.
        data: Bytes, a bytearray or a memoryview.
        arrays: Whether lists of numbers are arrays of numpy over `data`. Defaults to False.

    Raises:
        DecodeError: The bytes are no value of this type.
        Error: INVALID_ARGUMENT for a violated constraint.
        TypeError: `kind` has no codec, or `data` is of another kind.
    """
    try:
        codec = known.get(kind) or codec_of(kind)
    except TypeError:  # what cannot be hashed has no codec, which is said there
        codec = codec_of(kind)
    return (codec.arrays() if arrays else codec).decode(data)


def hash37(value: Any, kind: Any = None, /) -> int:
    """32 bits: h = 37 * h + byte over the bytes of `value`, the same in every runtime; `kind`: as of
    `to_bytes`."""
    from mf.codec import hashing

    return hashing.hash37(to_bytes(value, kind))


def hash64(value: Any, kind: Any = None, /) -> int:
    """XXH64 with seed 0 over the bytes of `value`, the same in every runtime; `kind`: as of `to_bytes`."""
    from mf.codec import hashing

    return hashing.hash64(to_bytes(value, kind))
