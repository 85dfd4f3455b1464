"""`mf send`: a flexible message to a process or a group."""

import click

from mf_tools.connect import Place, deadline_option, placed
from mf_tools.flexible import attributes, node
from mf_tools.output import emit


@click.command()
@click.argument("dest")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--as", "name", help="The name of the sender; else one of its own.")
@deadline_option
@placed
def command(place: Place, dest: str, words: tuple[str, ...], name: str | None, deadline: float) -> None:
    """Send a flexible message to the process DEST, or to all of a group ('GROUP/*'), until it is taken.

    A value is JSON where it is some, else text; an object of JSON, '-' or '@FILE' has several attributes.
    """
    given = attributes(words)
    given.pop("dest", None)
    with node(place) as made:
        try:
            sent = made.process(name).send(None, deadline, dest=dest, **given)
            sent.wait(deadline)
        except BaseException:
            made.close(0.0)  # it was waited for long enough, or Ctrl-C ends that
            raise
    if place.json:
        emit({"dest": dest, "copies": sent.copies})
