"""F8. `mfidlc annotate FILE TYPE [BYTES]`"""

import click

from mfidl.cli.values import (
    MALFORMED,
    bytes_options,
    checked_type,
    load,
    malformed_bytes,
    read_bytes,
    refuse_broken,
    say,
    tier_of,
    value_options,
)


@click.command("annotate")
@value_options
@bytes_options
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    help="text: a table; json: for tools, as docs/values.md describes it.",
)
def command(
    file: str,
    import_paths: tuple[str, ...],
    color: str,
    type_: str,
    tier: str | None,
    source: str | None,
    digits: str | None,
    style: str,
) -> None:
    """Label every byte of a value: offset, bytes, path, what it is, and its value.

    FILE is a schema, or what `mfidlc descriptor` wrote. TYPE is a name in it or an expression (`list<Hit>`).
    BYTES is a file; without one they come from standard input. Of bytes that are no such value, all before
    the fault is labelled; then the fault, its offset and its path are printed, and the exit code is 1.
    So it is where the value breaks a constraint of the schema.
    """
    from mfidl.dynamic import Schema, annotate
    from mfidl.dynamic.annotate_text import document, lines

    schema = Schema(load(file, import_paths, color))
    planned = checked_type(schema, type_, tier)
    data, name = read_bytes(source, digits)
    annotated = annotate(schema, type_, data, tier_of(tier))
    if style == "json":
        say(document(annotated, type_, planned) + "\n")
        raise SystemExit(MALFORMED if annotated.error or annotated.violation else 0)
    say("".join(f"{line}\n" for line in lines(annotated)))
    if annotated.error is not None:
        malformed_bytes(annotated.error, data, name)
    refuse_broken(annotated.violation, name)
