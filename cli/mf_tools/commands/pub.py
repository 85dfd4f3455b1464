"""`mf pub`: messages of a topic."""

from collections.abc import Iterator

import click

from mf_tools.commands.call import lines_of
from mf_tools.connect import Place, deadline_option, placed, text_of
from mf_tools.guard import USAGE, CommandError
from mf_tools.output import note
from mf_tools.publishing import publisher, topic_of


@click.command()
@click.argument("topic")
@click.argument("values", metavar="[JSON]...", nargs=-1)
@click.option("--agent", default="", help="For a topic with agents: whose messages they are.")
@click.option("--like", metavar="FILE", help="The topic as `mf describe --raw` has it: without a publisher.")
@click.option("--listen", metavar="ADDRESS", default="", help="Where subscribers reach this publisher.")
@click.option(
    "--wait", type=click.FloatRange(min=0), default=2.0, show_default=True, help="For a subscriber."
)
@deadline_option
@placed
def command(
    place: Place,
    topic: str,
    values: tuple[str, ...],
    agent: str,
    like: str | None,
    listen: str,
    wait: float,
    deadline: float,
) -> None:
    """Publish messages to a topic, each a JSON text; without any, one a line of standard input.

    What the topic carries says another publisher, or a file (--like). Ends when the subscribers have taken
    all.
    """
    import mf
    from mf_tools.commands.describe import like as read

    found = topic_of(place, topic, None if like is None else read(like), deadline)
    count = 0
    with publisher(place, found, listen, wait, deadline) as publish:
        for number, text in enumerate(_texts(values), 1):
            try:
                value = found.value(text)
            except mf.DecodeError as wrong:
                raise CommandError(f"message {number}: {wrong.message}", USAGE) from None
            publish(agent, value)
            count += 1
    note(f"published {count}")


def _texts(values: tuple[str, ...]) -> Iterator[str]:
    if not values or values == ("-",):
        yield from lines_of("-")
    else:
        yield from map(text_of, values)
