"""R0. What the code of a failure means for the caller that received it: the one table of the classes of
codes. Every question of the kind "may this failure pass?" is answered here; no other file lists codes for
one. C++ has the same table (mf/core/code_class.hpp), which says where the callers' sets differed before.
"""

from mf.core.error import Code

_TABLE = {
    # lost, elsewhere, passes, comes back, may run, goes away, only this, everywhere, for good, by handler
    Code.INVALID_ARGUMENT: "------oefh",
    Code.UNKNOWN_SERVICE: "---c----f-",
    Code.UNKNOWN_AGENT: "---c------",
    Code.UNKNOWN_METHOD: "--------f-",
    Code.SCHEMA_MISMATCH: "--------f-",
    Code.DEADLINE_EXCEEDED: "--pcm-----",
    Code.CANCELLED: "---cmg----",
    Code.OVERLOADED: "-e-c-go--h",
    Code.UNAVAILABLE: "lepcmg----",
    Code.CONNECTION_LOST: "lepcmg----",
    Code.MESSAGE_TOO_LARGE: "--------f-",
    Code.PROTOCOL_ERROR: "--------f-",
    Code.UNAUTHENTICATED: "-------efh",
    Code.PERMISSION_DENIED: "-------efh",
    Code.SHUTTING_DOWN: "-epc-g----",
}


def _column(number: int) -> frozenset[Code]:
    return frozenset(code for code, row in _TABLE.items() if row[number] != "-")


LOST = _column(0)
"""There is no way to the server, or it has broken: what was in flight has ended with it."""
ELSEWHERE = _column(1)
"""Another server may be tried with a call that certainly was not executed."""
PASSES = _column(2)
"""The same server may be reached in a moment: a search for a connection tries again until its deadline."""
COMES_BACK = _column(3)
"""A stream that stays and has ended so may be opened again, within the patience of its user."""
MAY_RUN = _column(4)
"""A call that ended so on this side, and may have run, may still be in execution at the server."""
GOES_AWAY = _column(5)
"""A stream ends so when its server or its connection goes away: nothing that needs a line in a log."""
ONLY_THIS = _column(6)
"""The server works and has accepted the sender: it refuses this one request, and may accept others."""
EVERYWHERE = _column(7)
"""The request is refused for its content or its sender: every server gives the same answer."""
FOR_GOOD = _column(8)
"""The same request to the same server fails until a person changes something."""
BY_HANDLER = _column(9)
"""A handler may raise it for its caller; any other code that leaves a handler becomes HANDLER_FAILED."""
