"""R0. What a server says of a service or topic that it offers: `Client.describe` asks for it."""

from typing import NamedTuple


class Description(NamedTuple):
    """`descriptor` and `annex` are texts (docs/protocol.md, sections 7 and 7a), which a peer has written:
    `mf.described` makes callable methods and values of them. `address`: of the server or relay that answered.
    `process`: its name, for people. `calls_open` of `calls_at_once`: its load when it said HELLO; 0 and 0 are
    unknown."""

    name: str
    descriptor: str
    annex: str
    address: str = ""
    process: str = ""
    calls_open: int = 0
    calls_at_once: int = 0
