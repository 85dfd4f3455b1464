"""R2. What is spoken by a peer that does not speak MF, or not in the way that this side expects: told by its
first bytes, so that who has used the wrong port or scheme learns it in words.
"""

from mf.protocol.frame import HEADER_SIZE
from mf.protocol.handshake import MAGIC

_ENOUGH = 4
# The first four bytes of what browsers, their proxies and servers send.
_HTTP = frozenset((b"GET ", b"POST", b"HEAD", b"PUT ", b"DELE", b"OPTI", b"CONN", b"PRI ", b"HTTP"))
_TLS = (0x15, 0x16)  # an alert, a handshake


def looks_like(first: bytes | bytearray) -> str:
    """'TLS', 'HTTP', 'MF', or empty. Four bytes are enough for the first two, and a HELLO never begins as
    they do."""
    if len(first) < _ENOUGH:
        return ""
    if first[0] in _TLS and first[1] == 3 and first[2] <= 4:
        return "TLS"
    if bytes(first[:_ENOUGH]) in _HTTP:
        return "HTTP"
    return "MF" if first[HEADER_SIZE : HEADER_SIZE + len(MAGIC)] == MAGIC else ""
