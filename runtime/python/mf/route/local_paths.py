"""R5. Whether a client may reach an instance by the unix socket that the instance has registered, instead of
by the network (mf/transport/trust.py). A client with TLS never does. A path that is there and must not be
used is logged once.
"""

from collections.abc import Iterable

from mf.core.error import Code, Error, not_executed
from mf.core.log import line, warning
from mf.route.resolver import Instance
from mf.transport.address import Address
from mf.transport.sockets import exists_here
from mf.transport.stream import Stream
from mf.transport.trust import Trust

_MOST_LOGGED = 1024


class LocalPaths:
    """`allowed`: false for a client with TLS. Thread-safe."""

    __slots__ = ("_allowed", "_logged", "_trust")

    def __init__(self, *, allowed: bool = True, users: Iterable[int] = ()) -> None:
        self._allowed = allowed
        self._trust = Trust(users)
        self._logged: set[str] = set()

    def check(self, instance: Instance) -> None:
        """Raises Error(UNAVAILABLE) if the path of the instance must not be tried, or is not on this host."""
        path = Address.parse(instance.local)
        if not self._allowed:
            raise self._refuse(path, "a client with TLS calls over TLS only", logged=instance.is_path)
        if not exists_here(path):
            raise self._refuse(path, "there is no such socket on this host", logged=False)
        if why := self._trust.refusal(path.host):
            raise self._refuse(path, why)

    def check_peer(self, path: Address, connected: Stream) -> None:
        """The same for the process that listens there."""
        if why := self._trust.refusal_of_peer(connected):
            raise self._refuse(path, why)

    def is_trusted(self, path: Address, connected: Stream) -> bool:
        """Whether no other user may listen at this path, also one that this client was given."""
        return not self._trust.refusal(path.host) and not self._trust.refusal_of_peer(connected)

    def _refuse(self, path: Address, why: str, *, logged: bool = True) -> Error:
        if logged and path.host not in self._logged:
            if len(self._logged) >= _MOST_LOGGED:
                self._logged.clear()
            self._logged.add(path.host)
            warning("%s", line("path_not_used", address=path, reason=why))
        return not_executed(Code.UNAVAILABLE, f"{path} is not used: {why}")


def another_process(instance: Instance) -> Error:
    """The failure for a path where another process answers than the one that has registered it."""
    text = f"{instance.local}: another process answers than the one that has registered it"
    return not_executed(Code.UNAVAILABLE, text)
