"""R5. What makes a server itself for controllers.

`secret` is random, and only controllers are told of it. `nonce`, which everybody sees in HELLO, is made of
it, so that a controller recognises the process that may register under the nonce, even if it has never heard
of it.
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
    """A new one."""
    secret = os.urandom(_SIZE)
    return Identity(hashlib.sha256(_PURPOSE + secret).digest()[:_SIZE], secret)
