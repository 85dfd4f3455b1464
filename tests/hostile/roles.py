"""The matrix of roles: what each role may do, where, by which credential. test_roles.py tries each cell.

A cell is a place that decides, an action of access files, and a credential. PLACES says for each place and
action what the log says of a denial, or why the place does not decide about it. CREDENTIALS says for each
credential whether it gets in, and whether the access file allows what it wants.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mf.core.error import Code

ACTIONS = (
    "register",
    "call",
    "lead",
    "watch",
    "publish",
    "subscribe",
    "send",
    "list",
    "replicate",
)


class Credential(NamedTuple):
    """`shown`: a certificate or a token, or none of both where the other kind is asked for. `admitted`: False
    if the connection is refused. `reason`: what the log of the place says of that."""

    shown: str
    admitted: bool
    allowed: bool
    identity: str
    reason: str = ""


def _certificate(admitted: bool, allowed: bool, identity: str, reason: str = "") -> Credential:
    return Credential("certificate", admitted, allowed, identity, reason)


def _token(admitted: bool, allowed: bool, identity: str, reason: str = "") -> Credential:
    return Credential("token", admitted, allowed, identity, reason)


ALLOWED = "spiffe://example.org/allowed"
STRANGER = "spiffe://example.org/stranger"
CREDENTIALS = {
    "no certificate": _certificate(
        False, False, "none", r"shows no certificate|did not return a certificate"
    ),
    "wrong authority": _certificate(False, False, "none", "authority|local issuer"),
    "expired certificate": _certificate(False, False, "none", "has expired"),
    "revoked certificate": _certificate(False, False, "none", "revoked"),
    "stranger's certificate": _certificate(True, False, STRANGER),
    "allowed certificate": _certificate(True, True, ALLOWED),
    "no token": _token(True, False, "none"),
    "altered token": _token(False, False, "none", "token"),
    "expired token": _token(False, False, "none", "expired"),
    "token for others": _token(False, False, "none", "token"),
    "stranger's token": _token(True, False, "token:stranger"),
    "allowed token": _token(True, True, "token:allowed"),
}


class Try(NamedTuple):
    """`event`: of the line that says that it is denied. `never`: for no identity."""

    event: str
    never: bool = False


Why = str
_PASSED = "a relay passes no call of the controller's that changes something"


def _server() -> dict[str, Try | Why]:
    return {
        "register": "its controller decides",
        "call": Try("call_denied"),
        "lead": "its controller decides",
        "watch": "its controller decides",
        "publish": "its controller decides",
        "subscribe": "the rows of topics try it",
        "send": "the rows of nodes try it",
        "list": "its controller decides",
        "replicate": "the rows of replicas try it",
    }


def _topic() -> dict[str, Try | Why]:
    return {
        **_server(),
        "call": "a topic has no methods but `subscribe`",
        "subscribe": Try("subscription_denied"),
    }


def _replica() -> dict[str, Try | Why]:
    return {
        **_server(),
        "call": Try("replica_denied"),
        "replicate": Try("replica_denied"),
        "subscribe": "a replica offers no topic",
        "send": "a replica has no mailbox",
    }


def _node() -> dict[str, Try | Why]:
    return {
        **_server(),
        "register": Try("source_denied"),  # to be the process as which it sends
        "call": "a node offers mailboxes alone",
        "send": Try("send_denied"),
        "subscribe": "a node offers no topic",
        "replicate": "a node is no replica",
    }


PLACES: dict[str, dict[str, Try | Why]] = {
    "controller": {
        "register": Try("access_denied"),
        "call": "what a controller has is watched, listed and registered; `status` is for all of its peers",
        "lead": Try("access_denied"),
        "watch": Try("access_denied"),
        "publish": Try("access_denied"),
        "subscribe": "publishers decide",
        "send": "nodes decide",
        "list": Try("access_denied"),
        "replicate": "replicas decide",
    },
    "server (C++)": _server(),
    "server (threads)": _server(),
    "server (asyncio)": _server(),
    "topic (C++)": _topic(),
    "topic (threads)": _topic(),
    "topic (asyncio)": _topic(),
    "replica (C++)": _replica(),
    "replica (Python)": _replica(),
    "node (C++)": _node(),
    "node (Python)": _node(),
    "relay": {
        "register": Try("", never=True),
        "call": Try("call_denied"),
        "lead": Try("", never=True),
        "watch": "a relay answers with what may be called through it: names are no secret to its clients",
        "publish": "a topic is published by a server, which registers",
        "subscribe": Try("subscription_denied"),
        "send": "`--registrations` makes of a relay a door for nodes, which decide themselves",
        "list": Try("", never=True),
        "replicate": _PASSED,
    },
    "bridge": {
        **dict.fromkeys(ACTIONS, "a bridge offers its topic alone"),
        "subscribe": Try("subscription_denied"),
    },
}
TAKE_TOKENS = ("controller", "server", "topic", "relay")
"""Others have no option for the keys of tokens."""


class Cell(NamedTuple):
    place: str
    action: str
    credential: str

    @property
    def outcome(self) -> Code:
        how, shown = PLACES[self.place][self.action], CREDENTIALS[self.credential]
        assert isinstance(how, Try)
        if not shown.admitted:
            return Code.UNAUTHENTICATED
        return Code.OK if shown.allowed and not how.never else Code.PERMISSION_DENIED

    @property
    def log(self) -> tuple[str, ...]:
        """What the place writes, as patterns. That a connection is refused is asked about once for each
        place: a log has ten lines of one host in ten seconds."""
        how, shown = PLACES[self.place][self.action], CREDENTIALS[self.credential]
        assert isinstance(how, Try)
        if not shown.admitted:
            first = next(action for action, each in PLACES[self.place].items() if isinstance(each, Try))
            return (shown.reason,) if self.action == first else ()
        if self.outcome is Code.OK or not how.event:
            return ()
        return (rf"{how.event} .*identity={shown.identity} .*\bline=0",)


def why_not(place: str, action: str, credential: str) -> Why:
    """Why this cell is not tried; empty if it is."""
    how = PLACES[place][action]
    if not isinstance(how, Try):
        return how
    if CREDENTIALS[credential].shown == "token" and place.split(" ")[0] not in TAKE_TOKENS:
        return "it takes no tokens"
    return ""


def cells() -> Iterator[Cell]:
    for place, actions in PLACES.items():
        for action in actions:
            for credential in CREDENTIALS:
                if not why_not(place, action, credential):
                    yield Cell(place, action, credential)
