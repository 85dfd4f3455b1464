"""R5. The connections of a client, one for each address and demanded certificate, opened when needed and
shared by all its callers; and what is known of each address: the result of the latest attempt, and whether
it answered in time. blocking_pool.py and async_pool.py make the connections.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from mf.core.backoff import JITTER, Backoff
from mf.core.client_options import ClientOptions
from mf.core.error import Code, Error, not_executed
from mf.core.secret import Secret
from mf.link.core import LinkCore
from mf.protocol.handshake import Hello, check_authentication, check_max_payload
from mf.route.balance import Standing, choose
from mf.route.local_paths import LocalPaths, another_process
from mf.route.resolver import Instance
from mf.tokens.files import read_token
from mf.transport.address import Address
from mf.transport.sockets import Dialer
from mf.transport.stream import Stream, StreamError

L = TypeVar("L", bound=LinkCore)

CONNECT_TIMEOUT = 5.0
A_MOMENT = 0.25
"""Seconds. A live server has answered by then; others must not be delayed by a silent one."""

UNTRUSTED_FOR = 5.0
"""Seconds that calls in flight may take at a server that is not trusted any more."""
NOT_TRUSTED = "the certificate of its server has expired or is not accepted any more"

_LONGEST_PAUSE = 0.2  # between attempts: a server that returns is used again within 300 ms
_LATE_FOR = 1.0  # doubling to
_LATE_AT_MOST = 30.0


def connect_failed(address: str, failed: OSError) -> Error:
    code = failed.code if isinstance(failed, StreamError) else Code.UNAVAILABLE
    why = failed.strerror or str(failed)
    return not_executed(code, f"connect {address}: {why[:1].lower()}{why[1:]}")


class Place(Generic[L]):
    """One address, and the certificate that is demanded there. A failed attempt counts for all callers for
    a moment, so that they do not flood it."""

    __slots__ = (
        "address",
        "backoff",
        "error",
        "former",
        "identity",
        "late_for",
        "late_until",
        "link",
        "not_before",
        "standing",
    )

    def __init__(self, place: str) -> None:
        """`place`: as Instance.place."""
        self.address, _, self.identity = place.partition("\0")
        self.link: L | None = None
        self.former: list[L] = []
        """Connections that accept no new calls, and have some in flight."""
        self.not_before = 0.0
        self.error: Error | None = None
        self.late_for = _LATE_FOR
        self.late_until = 0.0
        self.backoff = Backoff(longest=_LONGEST_PAUSE)
        self.standing = Standing()

    def connected(self, link: L) -> None:
        """A new connection replaces the previous one, whose calls continue."""
        self.backoff.reset()
        self.standing.connected(self.link is not None, monotonic())
        before = self.links()
        self.former = [each for each in before if each.failure is None and each.in_flight]
        self.link = link

    def links(self) -> list[L]:
        """All links that may have calls in flight."""
        return self.former if self.link is None else [*self.former, self.link]

    def failed(self, failed: OSError) -> Error:
        """An attempt failed. Returns the failure for its callers."""
        self.not_before = monotonic() + self.backoff.next()
        self.error = connect_failed(self.address, failed)
        return self.error

    def check_certificate(self, stream: Stream) -> None:
        """Called before HELLO is sent, which contains the client's authentication. Closes the stream and
        raises OSError if the certificate is not the one that the server has registered by."""
        if not self.identity:
            return
        shown = stream.identity()
        if shown.name != self.identity:
            stream.close()
            text = (
                f"the server has registered as {self.identity}, and the certificate there is that of {shown}"
            )
            raise StreamError(Code.UNAUTHENTICATED, text)

    def check(self, now: float) -> None:
        """Raises the failure of the latest attempt, if that was a moment ago."""
        if now < self.not_before and self.error is not None:
            raise self.error


P = TypeVar("P", bound=Place[Any])


class _WithInstance(Protocol):
    instance: Instance


E = TypeVar("E", bound=_WithInstance)


class Pool(ABC, Generic[P, L]):
    """Links by address."""

    __slots__ = (
        "_dialer",
        "_given_id",
        "_late",
        "_nonce",
        "_options",
        "_paths",
        "_places",
        "_random_id",
        "closed",
    )

    def __init__(self, options: ClientOptions, given_id: Callable[[], int] | None = None) -> None:
        check_max_payload(options.max_payload)  # here, and not when the first connection is made
        check_authentication(options.authentication)
        if isinstance(options.credential, str):
            read_token(options.credential)
        self._options = options
        self._dialer = Dialer(options.tls)
        self._given_id = given_id
        self._paths = LocalPaths(allowed=options.tls is None, users=options.trusted_users)
        self._places: dict[str, P] = {}
        self._late = False  # whether any place ever was late
        self.closed = False
        self._draw()

    def _draw(self) -> None:
        """Draws the client's identity; a child process draws again."""
        self._nonce = os.urandom(16)
        self._random_id = int.from_bytes(os.urandom(4), "little") | 1  # 0 is none

    def _hello(self) -> Hello:
        """The HELLO of a new connection."""
        client_id = (self._given_id() if self._given_id is not None else 0) or self._random_id
        return Hello(
            nonce=self._nonce,
            max_payload=self._options.max_payload,
            client_id=client_id,
            auth=self._options.authentication,
        )

    def _hello_to(self, address: str, stream: Stream) -> Hello:
        """The same with the credential, if the peer was verified. Raises Error(UNAUTHENTICATED),
        NOT_EXECUTED, if that cannot be read, and closes the stream."""
        hello = self._hello()
        try:
            hello.credential = self._credential_for(Address.parse(address), stream)
        except ValueError as failed:
            stream.close()
            raise not_executed(Code.UNAUTHENTICATED, f"credential {failed}") from None
        return hello

    def _credential_for(self, address: Address, stream: Stream) -> Secret | None:
        """What is shown there: nothing to a peer that was not verified. Raises ValueError."""
        credential = self._options.credential
        if credential is None or not self._is_verified(address, stream):
            return None
        return credential if isinstance(credential, Secret) else read_token(credential)

    def _is_verified(self, address: Address, stream: Stream) -> bool:
        """TLS has verified its peer before this. The socket of another user of this host is not trusted."""
        if address.local:
            return self._paths.is_trusted(address, stream)
        return address.scheme == "tls" or address.in_memory

    # Files of TLS that are read again

    def reload(self) -> bool:
        """Reads the files of TLS again. Connections to servers whose certificates are not accepted any more
        take no new calls, and end with those in flight, or after UNTRUSTED_FOR. False: a file cannot be used,
        which the log says, and those read before stay in use."""
        usable = self._dialer.refresh(always=True)
        self._check_trust()
        return usable

    def _look_at_files(self) -> bool:
        """The same for files that were replaced. False: there are no connections over TLS."""
        self._dialer.refresh()
        return self._check_trust()

    def _check_trust(self) -> bool:
        """Whether there are connections over TLS that are used."""
        used = False
        for place in list(self._places.values()):
            for link in place.links():
                if link.usable and not link.trusted():
                    link.retire()
                    self._end_untrusted(link)
                used = used or (link.usable and link.peer.startswith("tls:"))
        return used

    @abstractmethod
    def _end_untrusted(self, link: L) -> None:
        """Ends it after UNTRUSTED_FOR."""

    # Opening, written once: waits of the blocking pool block (mf.core.immediate)

    async def open(self, instance: Instance, deadline: float) -> L:
        """The link to an instance, over a socket of this host if the instance is found there and LocalPaths
        allows it. Raises Error(UNAVAILABLE), NOT_EXECUTED."""
        if instance.is_path:
            link = await self._at_path(instance, deadline)
            if link is None:
                raise another_process(instance)
            return link
        return await self.nearest(instance, deadline) or await self.get(instance.place, deadline)

    async def nearest(self, instance: Instance, deadline: float) -> L | None:
        """None: the instance is not at its path on this host, or does not answer before the deadline."""
        if not instance.local or instance.is_path or self._is_late(instance.local, monotonic()):
            return None
        until = self.patience(deadline)
        try:
            link = await self._at_path(instance, until)
        except Error:
            return None
        if link is None and monotonic() >= until:
            self.note_late(instance.local)
        return link

    async def _at_path(self, instance: Instance, deadline: float) -> L | None:
        """None if another process answers there. Raises Error(UNAVAILABLE), NOT_EXECUTED."""
        self._paths.check(instance)
        link = await self.get(instance.local, deadline, by_instance=True)
        await link.await_greeting(deadline)
        return link if link.is_to(instance.nonce) else None

    @abstractmethod
    async def get(self, place: str, deadline: float, *, by_instance: bool = False) -> L:
        """The link to a place (Instance.place), connected if necessary. `by_instance`: it is a path that an
        instance has registered. Raises Error(UNAVAILABLE), NOT_EXECUTED."""

    @abstractmethod
    async def begin_all(self, instances: list[Instance], deadline: float) -> None:
        """Starts to connect to several instances at once. Failures are ignored here: `open` reports them."""

    def _check_peer(self, path: str, stream: Stream) -> None:
        """Called before HELLO is sent, which contains the client's authentication, to a process at a path.
        Raises Error."""
        try:
            self._paths.check_peer(Address.parse(path), stream)
        except Error:
            stream.close()
            raise

    # Choosing

    def ordered(self, endpoints: list[E]) -> list[E]:
        """The endpoint that gets the next call comes first, avoided ones last."""
        if len(endpoints) < 2:
            return endpoints
        now = monotonic()
        standings = [self._look(each.instance, now) for each in endpoints]
        first = choose(standings)
        if standings[first].probe:
            standings[first].probed(now, JITTER.random())
        others = [index for index in range(len(endpoints)) if index != first]
        if len(others) > 1:
            JITTER.shuffle(others)
            others.sort(key=lambda index: not standings[index].trusted)
        ordered = [endpoints[first], *(endpoints[index] for index in others)]
        if self._late:  # those that recently did not answer within a moment go behind the others
            ordered.sort(key=lambda each: self._is_late(each.instance.place, now))
        return ordered

    def _look(self, instance: Instance, now: float) -> Standing:
        link = self.usable(instance)
        if link is None:
            standing: Standing = self._place(instance.place).standing
            if not standing.trusted:  # the connection on which it was avoided has ended
                standing.connected(False, now)
            return standing.look(-1, 0, now, instance.weight)
        standing = link.standing.look(link.heard, link.in_flight, now, instance.weight)
        if not standing.alive:
            link.ping(now)
            link.look_for_life(now)
        return standing

    def usable(self, instance: Instance) -> L | None:
        """The link to an instance, if there is one."""
        if instance.local:
            link = self._usable(instance.local)
            if link is not None and link.is_to(instance.nonce):
                return link
            if instance.is_path:
                return None
        return self._usable(instance.place)

    def _usable(self, address: str) -> L | None:
        place = self._places.get(address)
        link: L | None = place.link if place is not None else None
        return link if link is not None and link.usable else None

    def is_untried(self, instance: Instance) -> bool:
        """Whether it is still unknown if the instance can be reached."""
        place = self._places.get(instance.place)
        return place is None or (place.link is None and place.error is None)

    def patience(self, deadline: float) -> float:
        """The time until which an instance is awaited while there are others."""
        return min(deadline, monotonic() + A_MOMENT)

    def again_at(self, instance: Instance) -> float:
        """When an instance that could not be reached may be tried again."""
        place = self._places.get(instance.place)
        return 0.0 if place is None else place.not_before

    def note_silent(self, instance: Instance) -> None:
        """The server did not answer a connection attempt or a BIND within a moment."""
        link = self.usable(instance)
        if link is not None:
            link.standing.missed(monotonic())
        else:
            self.note_late(instance.place)

    def note_late(self, address: str) -> None:
        place = self._place(address)
        place.late_until = monotonic() + place.late_for
        place.late_for = min(place.late_for * 2, _LATE_AT_MOST)
        self._late = True

    def _is_late(self, address: str, now: float) -> bool:
        place = self._places.get(address)
        return place is not None and place.late_until > now

    @abstractmethod
    def _place(self, address: str) -> P: ...
