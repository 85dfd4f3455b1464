"""HELLO, identity, access, schema, registration, clock, load, health: what a server or controller says."""

import re
import time
from typing import TYPE_CHECKING

from mf_tools.addresses import Address
from mf_tools.connect import Place
from mf_tools.doctor.findings import Findings
from mf_tools.doctor.network import Place as Socket
from mf_tools.doctor.network import opened
from mf_tools.doctor.tls import speaks_tls

if TYPE_CHECKING:
    import mf
    from mf_tools.registry import Registered

CONTROLLER = "mf.controller.Controller"
_RELAYS = ("relay", "relay+tls")
"""Behind a relay no health service can be asked."""
_WITHIN = 3.0
_SLOW = 0.25
_CLOCKS = 60.0
_SHOWN = 20
_REFUSAL = re.compile(r"refused the connection: ([A-Z_]+): (.*)")


def looked_at(
    place: Place, address: Address, socket_at: Socket, service: str | None, agent: str | None, found: Findings
) -> None:
    spoken = _hello(place, address, socket_at, found)
    if spoken is None:
        return
    is_controller = spoken
    asks_controller = address.scheme in ("mf", "mf+tls", "relay", "relay+tls")
    if asks_controller and not is_controller:
        text = f"at {address} is a server, and no controller or relay"
        better = "tls" if address.over_tls else "tcp"
        found.fault(
            "hello", "no_controller", text, f"give the controller's address, or {better}:// for this server"
        )
        return
    if not asks_controller and is_controller and service is None:
        text = f"at {address} is a controller or relay: clients find services there by mf:// or relay://"
        found.warn("hello", "is_a_controller", text, "write mf:// for a controller, relay:// for a relay")
    if (
        address.scheme not in _RELAYS
        and not found.has_failed()
        and not _health(place, "", str(address), found)
    ):
        return
    if asks_controller:
        entries = _access(place, found)
        if entries is not None:
            _status(place, found)
            _registration(place, entries, service, agent, found)
    elif service is not None:
        _offered(place, service, agent, found)


def _hello(place: Place, address: Address, socket_at: Socket, found: Findings) -> bool | None:
    """Whether it is a controller. None: it does not come so far."""
    import mf

    server = _server_of(place)
    try:
        with place.at(server) as client:
            try:
                said = client.describe(CONTROLLER, deadline=_WITHIN)
                name, is_controller = said.process, True
            except mf.Error as failed:
                if failed.code is not mf.Code.UNKNOWN_SERVICE:
                    raise
                said, name, is_controller = None, "", False
            found.ok("hello", f"a server of MF{', ' + name if name else ''}")
            found.ok("identity", "accepted")
            _load(client, said, found)
            return is_controller
    except mf.Error as failed:
        _refused(failed, address, socket_at, found)
        return None


def _health(place: Place, service: str, where: str, found: Findings) -> bool:
    """What the health service of the server says; False: it does not answer."""
    import mf
    from mf_tools.health import reasons_of

    server = where if service else _server_of(place)
    shown = f"{service} at {where}" if service else "it"
    try:
        with place.at(server) as client:
            reasons = reasons_of(client, service, _WITHIN)
    except mf.Error as failed:
        text = f"the health service of {where} does not answer: {failed.message}"
        found.fault(
            "health",
            "health_does_not_answer",
            text,
            "all workers may be busy: look at its limits and its log",
        )
        return False
    if reasons is None:
        found.ok("health", f"{shown} cannot be asked for its health from here")
    elif reasons:
        text = f"{shown} may be given no work: {'; '.join(reasons)}"
        found.warn("health", "not_serving", text, "the reasons are those of /readyz: docs/observability.md")
    else:
        found.ok("health", f"{shown} serves")
    return True


def _server_of(place: Place) -> str:
    if place.is_controller:
        from mf.controller import servers_of

        return servers_of(place.where)
    return place.where


def _refused(failed: "mf.Error", address: Address, socket_at: Socket, found: Findings) -> None:
    code, text = failed.code.name, failed.message
    refusal = _REFUSAL.search(text)
    if refusal is not None:
        code, text = refusal[1], refusal[2]
    if code == "UNAUTHENTICATED":
        cure = "look at what this side shows: mf token show FILE --keys, mf certs show FILE; and into the server's log"
        found.fault("identity", "not_authenticated", text, cure)
    elif code == "PERMISSION_DENIED":
        found.fault("access", "denied", text, _ALLOW)
    elif code == "OVERLOADED":
        found.fault(
            "load",
            "takes_no_more",
            text,
            "look at max_connections of the server, and at its clients: ss -tn",
        )
    else:
        _no_hello(text, address, socket_at, found)


_ALLOW = "add a line to the server's access file; mf access check FILE IDENTITY ACTION shows what decides"


def _no_hello(text: str, address: Address, socket_at: Socket, found: Findings) -> None:
    """What speaks there instead."""
    if not address.over_tls and speaks_tls(socket_at) is not None:
        better = {"tcp": "tls", "mf": "mf+tls", "relay": "relay+tls"}.get(address.scheme, "tls")
        words = f"the server at {address} speaks TLS"
        found.fault("tls", "is_tls", words, f"write {better}://, with --ca for its authority")
        return
    first = b"" if address.over_tls else _first_bytes(socket_at)
    if first.startswith(b"HTTP"):
        words = f"a web server listens at {address}"
        found.fault(
            "hello", "is_http", words, "give the port of the MF server: `ss -ltnp` on its host shows it"
        )
    elif first:
        words = f"what listens at {address} speaks another protocol: {first[:_SHOWN]!r}"
        found.fault("hello", "another_protocol", words, "give the port of the MF server")
    elif any(word in text for word in ("ended", "closed", "reset")):
        words = f"the server accepts the connection, and ends it at once: {text}"
        cure = "look into its log: a limit of connections, or a firewall or proxy that closes"
        found.fault("hello", "ends_at_once", words, cure)
    else:
        words = f"the server accepts the connection, and says nothing: {text}"
        cure = "its process hangs or is stopped (kill -CONT), or it is no MF server; look at its host"
        found.fault("hello", "says_nothing", words, cure)


def _first_bytes(socket_at: Socket) -> bytes:
    """What it answers to a line that many protocols understand."""
    try:
        with opened(socket_at) as plain:
            plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
            plain.settimeout(1.0)
            return plain.recv(64)
    except OSError:
        return b""


def _load(client: "mf.Client", said: "mf.described.Description | None", found: Findings) -> None:
    import mf

    taken = []
    for _ in range(5):
        begun = time.monotonic()
        try:
            client.describe(CONTROLLER, deadline=_WITHIN)
        except mf.Error as failed:
            if failed.code is not mf.Code.UNKNOWN_SERVICE:
                found.fault(
                    "load", "stopped_answering", str(failed), "look at the server's host: is it overloaded?"
                )
                return
        taken.append(time.monotonic() - begun)
    best = min(taken)
    if best > _SLOW:
        text = f"the fastest of five round trips took {best * 1000:.0f} ms"
        found.warn(
            "load", "slow", text, "look at the load of the server's host, and at the network: mf latency"
        )
    elif said is not None and said.calls_at_once and said.calls_open >= said.calls_at_once:
        text = f"{said.calls_open} calls are open, {said.calls_at_once} run at once: later ones wait"
        found.warn("load", "busy", text, "add servers or workers")
    else:
        found.ok("load", f"a round trip takes {best * 1000:.2f} ms")


def _access(place: Place, found: Findings) -> "list[Registered] | None":
    import mf
    from mf_tools.registry import entries

    try:
        known = entries(place)
    except mf.Error as failed:
        if failed.code is mf.Code.PERMISSION_DENIED:
            found.fault("access", "denied", failed.message, _ALLOW)
        else:
            found.fault("access", "list_failed", str(failed), "look into the controller's log")
        return None
    found.ok("access", f"this side may list: {len(known)} offers")
    return known


def _status(place: Place, found: Findings) -> None:
    import mf

    try:
        with place.controller() as controller:
            status = controller.status(options=mf.CallOptions(deadline=_WITHIN))
    except mf.Error as failed:
        found.warn(
            "ledger", "status_failed", str(failed), "an access file may deny it: allow IDENTITY administer"
        )
        return
    since = int(status.store.since) / 1e9
    if since - _CLOCKS > time.time():
        text = f"the controller's clock is {since - time.time():.0f} s ahead of this host's"
        found.warn("clock", "clocks_differ", text, "let both hosts set their clocks: timedatectl")
    else:
        found.ok("clock", "nothing says that the clocks differ")
    if status.store.ok:
        found.ok("ledger", f"the store {status.store.name} is written")
    else:
        text = f"the controller's store {status.store.name} is not written: {status.store.reason}"
        found.fault(
            "ledger", "store_degraded", text, "look at its disk or at etcd: store_degraded in its log"
        )


def _registration(
    place: Place, known: "list[Registered]", service: str | None, agent: str | None, found: Findings
) -> None:
    if service is None:
        found.ok("registration", "give --service to look at one")
        return
    of = [each for each in known if each.name == service]
    if not of:
        from difflib import get_close_matches

        near = get_close_matches(service, {each.name for each in known}, 1)
        text = f"no server has registered {service}" + (f"; did you mean {near[0]}?" if near else "")
        cure = "look whether its server runs, and for not_registered in its log; `mf ls` shows what there is"
        found.fault("registration", "not_registered", text, cure)
        return
    at = [each for each in of if agent is None or each.agent == agent]
    if not at:
        agents = sorted({each.agent for each in of})
        text = f"{service} is registered, and not for {agent}: {', '.join(agents[:8])}"
        found.fault(
            "registration", "agent_not_registered", text, "give one of these agents, or start its server"
        )
        return
    alone = [each for each in at if each.alone]
    if alone and len({each.instance for each in at}) > 1:
        text = f"{len(at)} processes offer {service}, which one of them wants alone"
        found.fault(
            "registration", "offered_twice", text, "stop all but one: offered_twice in the log names them"
        )
    if all(not each.verified for each in at):
        text = f"all {len(at)} instances of {service} are known from the store alone"
        found.warn(
            "registration",
            "not_verified",
            text,
            "the controller has restarted: they come back within seconds",
        )
    for each in at:
        _instance(place, each, service, found)
    schemas = {each.schema_id for each in at}
    if len(schemas) > 1:
        text = f"the instances of {service} have {len(schemas)} schemas: {', '.join(sorted(schemas))}"
        cure = (
            "fine during an upgrade; else renew the older ones: mf describe shows each with --where ADDRESS"
        )
        found.warn("schema", "several_schemas", text, cure)
    elif not found.has_failed():
        found.ok("schema", f"all instances have {schemas.pop()}")


def _instance(place: Place, entry: "Registered", service: str, found: Findings) -> None:
    import mf

    address = entry.address
    topic = entry.kind == "topic"
    host = address.partition("://")[2].rpartition(":")[0]
    try:
        with place.at(address) as client:
            client.describe(service, topic=topic, deadline=_WITHIN)
    except mf.Error as failed:
        if failed.code is mf.Code.UNKNOWN_SERVICE:
            text = f"{address} answers, and does not offer {service}: another process has the address now"
            cure = "the server that registered it ends or has another address: look at --advertise"
            found.fault("registration", "another_process", text, cure)
            return
        unreachable = host in ("0.0.0.0", "[::]", "127.0.0.1", "localhost", "[::1]")
        text = f"{entry.process or entry.instance} is registered at {address}, which does not answer: {failed.message}"
        cure = (
            f"{host} is reached from its own host alone: let the server advertise an address that clients reach"
            if unreachable and not place.where.partition("://")[2].startswith(("127.", "localhost", "[::1]"))
            else "look whether the process runs, at its firewall, and at the address that it advertises"
        )
        found.fault("registration", "instance_does_not_answer", text, cure)
    else:
        found.ok("registration", f"{service} {entry.agent} at {address} answers".replace("  ", " "))
        _health(place, "" if topic else service, address, found)


def _offered(place: Place, service: str, agent: str | None, found: Findings) -> None:
    import mf
    from mf_tools.commands.describe import describe, schema_of

    try:
        said = describe(place, service, False, agent, _WITHIN)
        schema_of(said)
    except mf.Error as failed:
        if failed.code is mf.Code.UNKNOWN_SERVICE:
            cure = "give the address of a server that offers it, or a controller's"
            found.fault("registration", "not_offered", failed.message, cure)
        else:
            found.fault("schema", "description_unusable", failed.message, "renew this tool, or the server")
    else:
        found.ok("schema", f"{service} is offered and described")
