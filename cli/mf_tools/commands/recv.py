"""`mf recv`: flexible messages, one a line."""

from time import monotonic

import click

from mf_tools.connect import Place, placed
from mf_tools.flexible import as_json, attributes, node
from mf_tools.guard import NO_ANSWER, CommandError
from mf_tools.output import emit_json


@click.command()
@click.argument("name")
@click.argument("words", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many messages.")
@click.option("--for", "seconds", type=click.FloatRange(min=0), help="End after so many seconds.")
@click.option("--group", "groups", multiple=True, help="Be a member of this group.")
@placed
def command(
    place: Place,
    name: str,
    words: tuple[str, ...],
    count: int | None,
    seconds: float | None,
    groups: tuple[str, ...],
) -> None:
    """Be the flexible process NAME, and print what it is sent as JSON, until Ctrl-C. KEY=VALUE: only messages
    with this attribute are taken. With --count, ends with 4 where fewer came in time."""
    import mf

    wanted = attributes(words)
    until = None if seconds is None else monotonic() + seconds
    number = 0
    with node(place) as made:
        process = made.process(name, groups=groups)
        while count is None or number < count:
            left = 1.0 if until is None else min(1.0, until - monotonic())
            if left < 0:
                if count is not None:
                    raise CommandError(f"{number} of {count} messages came within {seconds:g} s", NO_ANSWER)
                return
            try:
                message = process.recv(left, **wanted)
            except mf.Error as failed:
                if failed.code is mf.Code.DEADLINE_EXCEEDED:
                    continue
                raise
            number += 1
            emit_json(as_json(message))
