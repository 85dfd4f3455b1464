"""`mf dash`: a page about everything that a controller lists."""

import asyncio
import ipaddress
import secrets
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from mf_tools.connect import Place, placed, processes_options, quiet
from mf_tools.guard import FILES, USAGE, CommandError
from mf_tools.output import emit, line, note
from mf_tools.scrape import endpoint

if TYPE_CHECKING:
    from mf_tools.dash.follow import Connect

_PORT = 7480
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@click.command()
@click.option("--listen", metavar="HOST:PORT", default=f"127.0.0.1:{_PORT}", show_default=True)
@click.option("--open", "opened", is_flag=True, help="Listen beyond this host; needs --tls-certificate.")
@click.option(
    "--tls-certificate", type=click.Path(dir_okay=False), help="What browsers are shown: a PEM file."
)
@click.option("--tls-key", type=click.Path(dir_okay=False), help="Its private key.")
@click.option("--name", "names", multiple=True, help="A name of this host in the address that browsers use.")
@click.option(
    "--monitor", "monitors", multiple=True, metavar="HOST:PORT", help="A monitor: its /metrics are shown."
)
@processes_options
@placed
def command(
    place: Place,
    listen: str,
    opened: bool,
    tls_certificate: str | None,
    tls_key: str | None,
    names: tuple[str, ...],
    monitors: tuple[str, ...],
    no_health: bool,
    shows_token: bool,
) -> None:
    """Serve a page that shows what a controller lists, as it changes, until Ctrl-C.

    It prints the address to open, with a key that is drawn for each run. Beyond this host it needs --open
    and TLS. Processes are asked with the certificate of the context, and without its token.
    """
    host, port = _endpoint(listen, opened)
    tls = _tls(tls_certificate, tls_key)
    if not _is_loopback(host) and tls is None:
        raise CommandError("--open needs --tls-certificate and --tls-key: its key would pass in clear", USAGE)
    place.check(place.controllers())
    shown = f"[{host}]" if ":" in host else host
    measured = [endpoint(each) for each in monitors]
    known = (*names, *(_LOOPBACK if _is_loopback(host) else ()), shown)
    ask = place.connect_to_processes(no_health=no_health, shows_token=shows_token)
    quiet()
    with suppress(asyncio.CancelledError):
        asyncio.run(_serve(place, (host, port), [each.lower() for each in known], tls, measured, ask))


async def _serve(
    place: Place,
    where: tuple[str, int],
    names: list[str],
    tls: ssl.SSLContext | None,
    monitors: list[tuple[str, int]],
    ask: "Connect | None",
) -> None:
    from mf_tools.dash.board import Board
    from mf_tools.dash.door import Door
    from mf_tools.dash.follow import Follower

    key = secrets.token_urlsafe(24)
    board = Board(place.where)
    door = Door(board, key, names, tls)
    try:
        server = await door.listen(*where)
    except OSError as failed:
        raise CommandError(
            f"cannot listen at {where[0]}:{where[1]}: {failed.strerror or failed}", FILES
        ) from None
    port = server.sockets[0].getsockname()[1]
    address = f"{'https' if tls else 'http'}://{names[0] if tls else names[-1]}:{port}/?key={key}"
    emit({"address": address}) if place.json else line(f"open {address}")
    note("Ctrl-C ends it")
    follower = Follower(board, place.controllers(), place.async_client, monitors, ask=ask)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(door.run())
            tasks.create_task(follower.run())
    finally:
        server.close()  # and no wait for pages, which would follow for ever


def _endpoint(text: str, opened: bool) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port[:9]) > 65_535:
        raise CommandError(f"--listen '{text}' is no HOST:PORT", USAGE)
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise CommandError(f"--listen '{text}' has no IP address as its host", USAGE) from None
    if not _is_loopback(host) and not opened:
        text = f"--listen '{text}' is beyond this host: listen at 127.0.0.1, or say --open"
        raise CommandError(text, USAGE)
    return host, int(port)


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback


def _tls(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise CommandError("--tls-certificate and --tls-key go together", USAGE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as failed:
        raise CommandError(f"'{certificate}' with '{key}': {failed.strerror or failed}", FILES) from None
    return context
