"""R7. The client of programs: knows all kinds of addresses."""

from typing import TYPE_CHECKING, Any

from mf.client.client import Client as BaseClient
from mf.client.where import refuse_in_clear
from mf.link.resolver import CONTROLLERS, RELAYS, RelayedResolver, Resolver, relay_addresses

if TYPE_CHECKING:
    from mf.app.async_client import AsyncClient
    from mf.transport.tls import Tls


class Client(BaseClient):
    """Calls services: through a controller, at one server, or in this process.

    `where`: 'mf://host:port' of a controller, 'mf+tls://host:port' over TLS; 'relay://host:port' of a relay,
    through which all servers are reached, 'relay+tls://host:port' over TLS; 'tcp://host:port',
    'tls://host:port' or 'unix:/path' of one server, or of several of a kind, with commas between them, as
    controllers may be; a Light; or a Resolver of your own. `tls`: how servers, controllers and relays at TLS
    are verified, and what is shown to them. A client with it, or with a controller at mf+tls://, never uses
    an address in clear: to pass one together with `tls` is a ValueError, and one that a controller names is
    skipped, and logged once.
    `wait_for_server`: seconds that a call waits for a server of a (service, agent) that this client never
    saw. `max_payload`: bytes of one reply that are accepted. A server that registered a path of this host is
    called over it, if its user is root, this process's own or one of `trusted_users`, and no other user can
    replace the path; a client with TLS never does that. `authentication`: up to 16 KiB that are shown to each
    peer when a connection is made; `TopicAccess` contains them.

    Any number of threads and generated clients may share one. Connections are opened when
    needed and used by all. Raises ValueError for an address that is none.
    """

    __slots__ = ()

    def _replicator_for(self, where: str, options: dict[str, Any]) -> Any:
        if where.partition("://")[0] not in CONTROLLERS:
            return None
        from mf.app.replication import BlockingReplication

        return BlockingReplication(where, options)

    def _async_client(self, where: str, options: dict[str, Any]) -> "AsyncClient":
        from mf.app.async_client import AsyncClient

        return AsyncClient(where, **options)

    def _resolver_for(self, where: str, tls: "Tls | None") -> Resolver:
        scheme = where.partition("://")[0]
        if scheme in CONTROLLERS:
            from mf.controller import ControllerResolver

            return ControllerResolver(where, tls)
        if scheme in RELAYS:
            from mf.controller import ControllerResolver

            relays = relay_addresses(where)
            refuse_in_clear(relays, tls)
            return RelayedResolver(ControllerResolver(where, tls), relays)
        return super()._resolver_for(where, tls)
