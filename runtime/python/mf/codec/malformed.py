"""R1. How the fast codec gives up.

Generated codecs and the helpers that they call check just enough never to produce a wrong value. Where
something is not as expected they raise `MalformedError`, or let Python's own error (a short buffer, a wrong
type) pass: `GIVE_UP` has them all. `mf.codec.Codec` then repeats the work with the careful reader or writer,
which alone decides and finds the words, the offset and the path. So the fast path may give up on anything
rare, and never explains.
"""

import struct
from typing import Final


class MalformedError(ValueError):
    """Not for users: the careful path turns it into an `mf.Error`, or into a value after all."""


GIVE_UP: Final = (
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    OverflowError,
    RecursionError,  # in values that are nested too deeply, or in themselves
    struct.error,
)
