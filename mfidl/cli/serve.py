"""F8. `mfidlc serve`"""

import os
import sys
from contextlib import ExitStack

import click


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Listen on this port of 127.0.0.1; without it, on any that is free.",
)
@click.option(
    "--open/--no-open", "opens", default=True, help="Open the page in a browser, where there is one."
)
def command(port: int, opens: bool) -> None:
    """Open the playground: a page where a schema is edited beside what it becomes.

    It shows generated C++ and Python, layouts, what a change breaks, and the bytes of values. The page is
    served on this machine only, and reads no files. Ctrl-C ends it.
    """
    from mfidl.compiler import Exit
    from mfidl.serve.server import Playground

    try:
        listening = Playground(port)
    except OSError as error:
        click.echo(f"mfidlc: cannot listen at 127.0.0.1:{port}: {error.strerror}", err=True)
        raise SystemExit(Exit.IO) from None
    with listening as server:
        click.echo(f"The playground is at {server.address}")
        click.echo("Ctrl-C ends it.")
        sys.stdout.flush()
        shows = opens and (sys.platform == "darwin" or os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY"})
        try:
            with ExitStack() as until:
                if shows:
                    _shown(server.address, until)
                server.serve_forever()
        except KeyboardInterrupt:
            click.echo("The playground has ended.")


def _shown(address: str, until: ExitStack) -> None:
    """Opens a browser at the address, which is printed already: it is no failure if there can be none."""
    from mfidl.serve.opening import opened

    try:
        until.enter_context(opened(address))
    except OSError as error:
        click.echo(f"mfidlc: no browser is opened: {error.strerror or error}", err=True)
