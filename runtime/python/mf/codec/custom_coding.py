"""R1. Values of tier custom among others: the user's codec writes and reads them, whatever it raises."""

from typing import Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.custom import user_codec
from mf.codec.failure import CodecError, shown
from mf.codec.fault import Fault
from mf.codec.reader import Reader


def read_custom(r: Reader, shape: s.Custom, size: int) -> Any:
    codec = user_codec(shape.module, shape.codec)
    at = r.pos
    r.charge(sizes.memory(shape) + size)
    data = r.take(size)
    try:
        made = codec.decode(data)
    except Exception as error:
        reason = f"the codec of {shape.name} refused it: {_said(error)}"
        raise r.fail(Fault.CUSTOM_CODEC_FAILED, reason, at) from None
    if made is None:
        reason = f"the codec of {shape.name} made None of it: its decode must return a value"
        raise r.fail(Fault.CUSTOM_CODEC_FAILED, reason, at)
    return made


def custom_bytes(shape: s.Custom, value: Any) -> bytes:
    codec = user_codec(shape.module, shape.codec)
    try:
        made = codec.encode(value)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"[:200]
        raise CodecError(f"the codec of {shape.name} refused it: {text}") from error
    if not isinstance(made, (bytes, bytearray, memoryview)):
        raise CodecError(f"the codec of {shape.name} made {shown(made)}, and not bytes")
    return bytes(made)


def _said(error: Exception) -> str:
    text = str(error)[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
