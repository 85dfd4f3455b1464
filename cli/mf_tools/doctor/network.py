"""Name, route and port; the paths of unix sockets."""

import errno
import os
import socket
import stat

from mf_tools.addresses import Address
from mf_tools.doctor.findings import Findings

CONNECT_WITHIN = 2.0
Place = tuple[int, str, tuple[str, int]]
"""Family, the address as text, and what a socket connects to."""


stat_of = os.stat


def reached(address: Address, found: Findings) -> Place | None:
    """A place where something listens."""
    if address.scheme == "unix":
        return _path(address.host, found)
    places = _names(address, found)
    if not places:
        return None
    routed = [each for each in places if _is_routed(each)]
    if not routed:
        text = f"no route to {', '.join(each[1] for each in places)}"
        cure = "look at the network of this host: ip route get ADDRESS; is a VPN or an interface down?"
        found.fault("route", "no_route", text, cure)
        return None
    found.ok("route", f"to {', '.join(each[1] for each in routed)}")
    return _port(address, routed, found)


def opened(place: Place) -> socket.socket:
    """A connection. Raises OSError."""
    made = socket.socket(place[0], socket.SOCK_STREAM)
    made.settimeout(CONNECT_WITHIN)
    try:
        made.connect(place[1] if place[0] == socket.AF_UNIX else place[2])
    except BaseException:
        made.close()
        raise
    return made


def _names(address: Address, found: Findings) -> list[Place]:
    try:
        infos = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failed:
        again = isinstance(failed, socket.gaierror) and failed.errno == socket.EAI_AGAIN
        fault = "resolver_does_not_answer" if again else "unknown_name"
        cure = (
            "look at /etc/resolv.conf, and whether its servers answer"
            if again
            else "look for a mistake in the name; `getent hosts NAME` shows what this host resolves it to"
        )
        found.fault("name", fault, f"'{address.host}': {getattr(failed, 'strerror', None) or failed}", cure)
        return []
    places: list[Place] = []
    for family, _, _, _, place in infos:
        if family in (socket.AF_INET, socket.AF_INET6):
            places.append((family, str(place[0]), place))  # type: ignore[arg-type]
    found.ok("name", f"{address.host} is {', '.join(each[1] for each in places)}")
    return places


def _is_routed(place: Place) -> bool:
    """Whether the system has a route: a socket of UDP is connected without a packet."""
    try:
        with socket.socket(place[0], socket.SOCK_DGRAM) as probe:
            probe.connect(place[2])
    except OSError:
        return False
    return True


def _port(address: Address, places: list[Place], found: Findings) -> Place | None:
    refused, silent = [], []
    for place in places:
        try:
            opened(place).close()
        except TimeoutError:
            silent.append(place[1])
        except OSError as failed:
            refused.append(f"{place[1]} ({failed.strerror or failed})")
        else:
            found.ok("port", f"something listens at {place[1]} port {address.port}")
            if refused or silent:
                text = f"{address.host} is also {', '.join([*refused, *silent])}, where nothing answers"
                cure = "give the server's number in place of the name, or let it listen there, too"
                found.warn("port", "some_addresses_do_not_answer", text, cure)
            return place
    if silent:
        text = f"no answer from port {address.port} of {', '.join(silent)} within {CONNECT_WITHIN:g} s"
        cure = "a firewall drops packets, the host is down, or the server accepts nothing: look at each in this order"
        found.fault("port", "port_does_not_answer", text, cure)
    else:
        text = f"nothing listens at port {address.port} of {', '.join(refused)}"
        cure = "start the server; look whether it listens at this port and beyond loopback: ss -ltn"
        found.fault("port", "port_refused", text, cure)
    return None


def _path(path: str, found: Findings) -> Place | None:
    try:
        mode = stat_of(path).st_mode
    except FileNotFoundError:
        cure = "start the server; look at the path that it says when it starts"
        found.fault("name", "no_such_socket", f"there is no '{path}'", cure)
        return None
    except OSError as failed:
        text = f"'{path}': {failed.strerror}"
        found.fault(
            "name", "socket_out_of_reach", text, "let this user pass the folders of the path: namei -l PATH"
        )
        return None
    if not stat.S_ISSOCK(mode):
        found.fault("name", "no_socket", f"'{path}' is no socket", "give the path of the server's socket")
        return None
    found.ok("name", f"'{path}' is a socket")
    place = socket.AF_UNIX, path, (path, 0)
    try:
        opened(place).close()
    except OSError as failed:
        if failed.errno == errno.EACCES:
            cure = "let this user write to the socket: its mode says which users may call"
            found.fault("port", "socket_denied", f"'{path}': {failed.strerror}", cure)
        else:
            cure = "its server has ended: start it again; it replaces the file"
            found.fault(
                "port", "stale_socket", f"nothing listens at '{path}': {failed.strerror or failed}", cure
            )
        return None
    found.ok("port", f"something listens at '{path}'")
    return place
