"""R2. Recognises peers that use another protocol, or not the form that this side expects, by their first
bytes, so that a user with a wrong port or scheme gets a clear message.
"""

from mf.protocol.frame import HEADER_SIZE
from mf.protocol.handshake import MAGIC

_ENOUGH = 4
# The first four bytes of what browsers, their proxies and servers send.
_HTTP = frozenset((b"GET ", b"POST", b"HEAD", b"PUT ", b"DELE", b"OPTI", b"CONN", b"PRI ", b"HTTP"))
_TLS = (0x15, 0x16)  # an alert, a handshake


def looks_like(first: bytes | bytearray) -> str:
    """'TLS', 'HTTP', 'MF', or empty. Four bytes suffice for the first two, and a HELLO never begins like
    them."""
    if len(first) < _ENOUGH:
        return ""
    if first[0] in _TLS and first[1] == 3 and first[2] <= 4:
        return "TLS"
    if bytes(first[:_ENOUGH]) in _HTTP:
        return "HTTP"
    return "MF" if first[HEADER_SIZE : HEADER_SIZE + len(MAGIC)] == MAGIC else ""
