"""`mf top`: a table on the terminal that follows."""

import sys
from functools import partial

import click

from mf_tools.connect import Place, placed, processes_options, quiet
from mf_tools.guard import USAGE, CommandError
from mf_tools.scrape import endpoint


@click.command()
@click.option("--monitor", "monitors", multiple=True, metavar="HOST:PORT", help="A monitor with rates.")
@processes_options
@placed
def command(place: Place, monitors: tuple[str, ...], no_health: bool, shows_token: bool) -> None:
    """Watch the services, instances and monitors of a controller on the terminal: calls a second, errors,
    p50 and p99, what does not answer.

    Keys: v changes the view, o the order, q ends it. Needs `pip install 'mfidl-tools[top]'`.
    """
    measured = [endpoint(each) for each in monitors]
    controllers = place.controllers()
    place.check(controllers)
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        raise CommandError("top needs a terminal; `mf ls --health --json` is for scripts", USAGE)
    try:
        from mf_tools.screen import Screen
    except ModuleNotFoundError as missing:
        if missing.name != "textual":
            raise
        raise CommandError("top needs textual: pip install 'mfidl-tools[top]'", USAGE) from None
    from mf_tools.dash.board import Board
    from mf_tools.dash.follow import Follower

    quiet()
    board = Board(place.where)
    ask = place.connect_to_processes(no_health=no_health, shows_token=shows_token)
    follower = Follower(board, controllers, place.async_client, measured, ask=ask)
    Screen(board, partial(Follower.run, follower)).run()
