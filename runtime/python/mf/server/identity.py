"""R5. The identity of a server for controllers.

`secret` is random, and is sent to controllers only. `nonce`, which is public in HELLO, is derived from it, so
that a controller recognises the process that may register under the nonce, even if it has not known the
process before.
"""

import hashlib
import os
from typing import NamedTuple

_PURPOSE = b"mf process "
_SIZE = 16


class Identity(NamedTuple):
    nonce: bytes
    secret: bytes


def draw() -> Identity:
    """Makes a new identity."""
    secret = os.urandom(_SIZE)
    return Identity(hashlib.sha256(_PURPOSE + secret).digest()[:_SIZE], secret)
