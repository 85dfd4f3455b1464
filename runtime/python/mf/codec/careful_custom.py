"""R1. The careful reader's values of tier custom, which the user's codec reads."""

from typing import TYPE_CHECKING, Any

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.fault import Fault

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader


def read_custom(r: "CarefulReader", shape: s.Custom, size: int) -> Any:
    from mf.codec.custom import user_codec

    codec = user_codec(shape.module, shape.codec)
    at = r.pos
    r.charge(sizes.memory(shape) + size)
    data = r._take(size)
    try:
        made = codec.decode(data)
    except Exception as error:
        reason = f"the codec of {shape.name} refused it: {_said(error)}"
        raise r.fail(Fault.CUSTOM_CODEC_FAILED, reason, at) from None
    if made is None:
        reason = f"the codec of {shape.name} made None of it: its decode must return a value"
        raise r.fail(Fault.CUSTOM_CODEC_FAILED, reason, at)
    return made


def _said(error: Exception) -> str:
    text = str(error)[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
