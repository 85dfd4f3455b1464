"""Whether values are read and written by the native codec, and why not.

    mf.native.in_use()              whether mf-runtime-native is installed, fits and is not turned off
    mf.native.why()                 the same in one sentence
    mf.native.covered(Hit)          whether it takes values of this type; mf.native.why(Hit) says why not

It is found when the first value is read or written. `MF_PURE=1` in the environment turns it off.
"""

from typing import Any

from mf.codec.lookup import codec_of
from mf.codec.native import native, reason_of

__all__ = ["covered", "in_use", "why"]


def in_use() -> bool:
    """Whether the native codec is used at all in this process."""
    return native().module is not None


def why(kind: Any = None, /) -> str:
    """One sentence about the process; with a type, why the pure codec does its work: empty if it does not.

    Raises TypeError for what has no codec.
    """
    return native().why if kind is None else reason_of(codec_of(kind).shape)


def covered(kind: Any, /) -> bool:
    """Whether values of a type are read and written natively. Raises TypeError for what has no codec."""
    return not why(kind)
