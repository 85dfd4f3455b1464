"""R3. Which users of this host may own a unix socket whose path another process has named.

A path that a server has registered is public, and so is the nonce of its HELLO: on the client's host another
user may listen there. So such a path is used only if root, the client's own user, or a user that the client
was given owns the socket and all folders above it, no other user may replace one of them, and the process at
the other end belongs to such a user, too.
"""

import os
import stat
from collections.abc import Iterable

from mf.transport import unix
from mf.transport.stream import Stream

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Trust:
    """`users`: trusted in addition to root and the user of this process."""

    __slots__ = ("_users",)

    def __init__(self, users: Iterable[int] = ()) -> None:
        self._users = frozenset(users)

    def has(self, user: int) -> bool:
        return user in (0, os.geteuid()) or user in self._users

    def refusal(self, path: str) -> str:
        """Why the socket at this path may be another user's, in words; empty: it is not."""
        try:
            found = os.lstat(path)
            if not stat.S_ISSOCK(found.st_mode):
                return f"{path} is no socket"
            if not self.has(found.st_uid):
                return f"{path} belongs to user {found.st_uid}"
            above = os.path.realpath(os.path.dirname(path))  # noqa: PTH120 - one call where pathlib makes objects
            while True:
                found = os.lstat(above)
                if not self.has(found.st_uid):
                    return f"{above} belongs to user {found.st_uid}"
                # In a folder with the sticky bit, as /tmp, only the owner of an entry may replace it, and
                # that owner is trusted.
                if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
                    return f"other users may write to {above}"
                if above == "/":
                    return ""
                above = os.path.dirname(above)  # noqa: PTH120
        except OSError as failed:
            why = failed.strerror or str(failed)
            return f"{path}: {why[:1].lower()}{why[1:]}"

    def refusal_of_peer(self, connected: Stream) -> str:
        """The same for the process at the other end of a connection to such a path."""
        user = unix.peer_user(connected.fileno())
        if user is None:
            return "the system does not say whose process it is"
        return "" if self.has(user) else f"the process that listens there belongs to user {user}"
