"""Where a command goes, and with which credentials: its options, and the clients that these make."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from mf_tools.addresses import check_no_secret
from mf_tools.contexts import Context, current, load, names
from mf_tools.guard import USAGE, CommandError

if TYPE_CHECKING:
    import mf
    from mf.controller import ControllerClient

_CONTROLLERS = ("mf://", "mf+tls://")
_RELAYS = ("relay://", "relay+tls://")


@dataclass(slots=True)
class Place:
    """What the options of a command say. `json`: output for scripts."""

    context: Context
    json: bool
    name: str = ""

    @property
    def where(self) -> str:
        found = self.context.get("where", "")
        if not found:
            text = (
                "it is not said where: give --where ADDRESS, or make a context: mf context add NAME ADDRESS"
            )
            raise CommandError(text, USAGE)
        check_no_secret(found)
        return found

    @property
    def is_said(self) -> bool:
        """Whether an option, the environment or a context names it."""
        return bool(self.context.get("where"))

    @property
    def is_controller(self) -> bool:
        return self.where.startswith((*_CONTROLLERS, *_RELAYS))

    def tls(self) -> "mf.Tls | None":
        import mf

        known = self.context
        made = mf.Tls(
            ca=known.get("ca", ""),
            crl=known.get("crl", ""),
            certificate=known.get("certificate", ""),
            key=known.get("key", ""),
            server_name=known.get("server_name", ""),
        )
        return made if made != mf.Tls() else None

    def options(self, wait_for_server: float = 5.0, *, token: bool = True) -> "mf.ClientOptions":
        """`token`: whether servers are shown the token."""
        import mf

        shown = self.context.get("token") or None if token else None
        return mf.ClientOptions(tls=self.tls(), credential=shown, wait_for_server=wait_for_server)

    def client(self, wait_for_server: float = 5.0) -> "mf.Client":
        return self.at(self.where, wait_for_server)

    def at(self, address: str, wait_for_server: float = 5.0, *, token: bool = True) -> "mf.Client":
        """A client of one server. `token`: whether it is shown the token."""
        import mf

        quiet()
        try:
            return mf.Client(address, self.options(wait_for_server, token=token))
        except ValueError as wrong:
            raise CommandError(str(wrong), USAGE) from None

    def check(self, address: str) -> None:
        """Ends the command for an address that this side must not call, as one in clear with a token."""
        self.at(address).close()

    def async_client(self, address: str, *, token: bool = True) -> "mf.AsyncClient":
        """Of the running loop. `token`: whether the server is shown the token. Raises ValueError for an
        address that this side must not call."""
        import mf

        return mf.AsyncClient(address, self.options(0.3, token=token))

    def connect_to_processes(
        self, *, no_health: bool, shows_token: bool
    ) -> "Callable[[str], mf.AsyncClient] | None":
        """How to connect to the processes that a controller lists, as `processes_options` say; None if they
        are not to be asked, or cannot be behind a relay."""
        if no_health or self.where.startswith(_RELAYS):
            return None
        return partial(self.async_client, token=shows_token)

    @contextmanager
    def controller(self) -> "Iterator[ControllerClient]":
        """Of the controller, or of a relay in its place."""
        from mf.controller import ControllerClient

        with self.at(self.controllers()) as client:
            yield ControllerClient(client)

    def controllers(self) -> str:
        """Where the controller, or the relay, listens. Ends the command for the address of a server."""
        from mf.controller import servers_of

        if not self.is_controller:
            text = f"{self.where} is a server: this needs a controller (mf://) or a relay (relay://)"
            raise CommandError(text, USAGE)
        try:
            return servers_of(self.where)
        except ValueError as wrong:
            raise CommandError(str(wrong), USAGE) from None


def quiet() -> None:
    """The runtime's warnings say what the failure of a command says again; MF_DEBUG=1 shows them."""
    if os.environ.get("MF_DEBUG") != "1":
        import logging

        logging.getLogger("mf").setLevel(logging.CRITICAL)


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


def placed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options about where, and its function a `Place` as the first argument."""

    @wraps(function)
    def with_place(
        where: str | None,
        context: str | None,
        ca: str | None,
        certificate: str | None,
        key: str | None,
        server_name: str | None,
        token_file: str | None,
        as_json: bool,
        **given: Any,
    ) -> Any:
        name, found = _found(where, context)
        for field, value in (("ca", ca), ("certificate", certificate), ("key", key), ("token", token_file)):
            if value is not None:
                found[field] = os.path.abspath(value)  # type: ignore[literal-required]
        if server_name is not None:
            found["server_name"] = server_name
        return function(Place(found, as_json, name), **given)

    path = click.Path(dir_okay=False)
    for option in (
        click.option("--json", "as_json", is_flag=True, help="JSON, for scripts."),
        click.option("--token-file", type=path, help="A file with a token, for addresses over TLS."),
        click.option("--server-name", help="The name that the server's certificate must be for."),
        click.option("--key", type=path, help="The private key of --certificate."),
        click.option("--certificate", type=path, help="What this side shows: a PEM file."),
        click.option("--ca", type=path, help="The authorities that are accepted: a PEM file."),
        click.option("-c", "--context", shell_complete=_complete, help="A context (mf context)."),
        click.option("-w", "--where", metavar="ADDRESS", help="mf://, relay://, tcp://, tls://, unix:…"),
    ):
        with_place = option(with_place)
    return with_place


def processes_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Any process that may register itself would receive a token that is shown to all processes."""
    for option in (
        click.option(
            "--show-token-to-processes",
            "shows_token",
            is_flag=True,
            help="Show the token to each process that has registered itself, too.",
        ),
        click.option("--no-health", is_flag=True, help="Ask the controller alone, and no process."),
    ):
        function = option(function)
    return function


def _found(where: str | None, context: str | None) -> tuple[str, Context]:
    """An address on the command line takes no credentials of a context, unless both are named."""
    if context is not None:
        found = load(context)
        return context, Context(**{**found, "where": where}) if where else found
    where = where or os.environ.get("MF_WHERE")
    if where:
        return "", Context(where=where)
    name = os.environ.get("MF_CONTEXT") or current()
    return (name, load(name)) if name else ("", Context())


MOST_INPUT = 32 << 20


def text_of(given: str) -> str:
    """The JSON of an argument: itself, `-` for standard input, `@FILE` for a file."""
    if given == "-":
        data = sys.stdin.buffer.read(MOST_INPUT + 1)
    elif given.startswith("@"):
        with open(given[1:], "rb") as file:
            data = file.read(MOST_INPUT + 1)
    else:
        return given
    if len(data) > MOST_INPUT:
        raise CommandError(f"more than {MOST_INPUT >> 20} MiB of input", USAGE)
    try:
        return data.decode().strip()
    except UnicodeDecodeError as wrong:
        raise CommandError(f"the input is not UTF-8 at byte {wrong.start}", USAGE) from None


def deadline_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--deadline",
        type=click.FloatRange(min=0, min_open=True),
        default=10.0,
        show_default=True,
        help="Seconds.",
    )(function)
