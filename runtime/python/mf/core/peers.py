"""R0. The identity of calls within a process, and how lines of the log name a peer."""

import os

from mf.core.identity import Identity, IdentityKind


def own_identity() -> Identity:
    """The identity of calls within this process: its user."""
    return Identity(IdentityKind.UID, f"uid:{os.geteuid()}")


def peer_fields(peer: str, identity: Identity) -> dict[str, object]:
    """The fields of a line of the log that name a peer."""
    return {"peer": peer, "identity": identity} if identity.known or identity.via else {"peer": peer}
