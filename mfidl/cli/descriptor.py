"""F8. `mfidlc descriptor FILE... [--out FILE] [--format binary|json|text] [--topic NAME]`"""

import sys
from typing import TYPE_CHECKING

import click

from mfidl.cli.common import finish, source_options

if TYPE_CHECKING:
    from mfidl import model


@click.command("descriptor")
@source_options
@click.option("--out", metavar="FILE", help="Write FILE instead of standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["binary", "json", "text"]),
    default="binary",
    help="binary: a protobuf message, mfidl.descriptor.Program; json and text: the same, to be read.",
)
@click.option(
    "--topic",
    metavar="NAME",
    help="Instead of it all, what of a topic is compared on the wire, as text: for mf-bridge.",
)
def command(
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    color: str,
    out: str | None,
    form: str,
    topic: str | None,
) -> None:
    """Write the resolved program as a protobuf message, for tools of your own.

    It holds the schemas and all that they import: types, values, layouts, fingerprints, documentation. The
    message is described field by field in mfidl/descriptor/descriptor.proto, beside this program.
    """
    if out is None and topic is None and form == "binary" and sys.stdout.isatty():
        raise click.UsageError("A binary descriptor is not for a terminal. Give --out FILE or --format text.")
    from mfidl.compiler import Exit, Outcome, check

    outcome = check(files, import_paths)
    if outcome.program is None or outcome.exit is not Exit.OK:
        finish(outcome, "text", color)
    assert outcome.program is not None
    data = _all(outcome.program, form) if topic is None else _of_topic(outcome.program, topic)
    if out is None:
        sys.stdout.buffer.write(data)
        finish(outcome, "text", color)
    from mfidl.diagnostics import Diagnostics
    from mfidl.emit.write import write_file

    assert out is not None
    diagnostics = Diagnostics()
    if not write_file(out, data, diagnostics):
        outcome = Outcome(Exit.IO, [*outcome.diagnostics, *diagnostics.sorted()], None)
    finish(outcome, "text", color)


def _all(program: "model.Program", form: str) -> bytes:
    from mfidl.descriptor.formats import formatted
    from mfidl.descriptor.write import to_message

    return formatted(to_message(program), form)


def _of_topic(program: "model.Program", name: str) -> bytes:
    """Its descriptor and its annex, one behind the other (docs/protocol.md, sections 7 and 7a)."""
    topics = [topic for module in program.modules for topic in module.topics]
    found = [topic for topic in topics if name in (topic.full_name, topic.name)]
    exact = [topic for topic in found if topic.full_name == name] or found
    if len(exact) != 1:
        which = ", ".join(topic.full_name for topic in (found or topics)) or "none at all"
        raise click.UsageError(
            f"--topic {name}: {'several' if found else 'no topic'} of that name; there is {which}."
        )
    return (exact[0].descriptor + exact[0].annex).encode()
