"""F8. `mfidlc decode FILE TYPE [BYTES]`"""

import click

from mfidl.cli.values import (
    bytes_options,
    checked_type,
    load,
    malformed,
    malformed_bytes,
    read_bytes,
    refuse_broken,
    say,
    tier_of,
    value_options,
)


@click.command("decode")
@value_options
@bytes_options
def command(
    file: str,
    import_paths: tuple[str, ...],
    color: str,
    type_: str,
    tier: str | None,
    source: str | None,
    digits: str | None,
) -> None:
    """Tell the value that bytes are, as JSON.

    FILE is a schema, or what `mfidlc descriptor` wrote. TYPE is a name in it (`Hit`, `sf1.search.Hit`,
    `Index.query.params`) or an expression (`list<Hit>`). BYTES is a file; without one they come from standard
    input. Bytes that are no such value: exit code 1, and where and why; `mfidlc annotate` shows more.
    A value that breaks a constraint of the schema is followed by the constraint, and the exit code is 1 too.
    """
    from mfidl.dynamic import DecodeError, EncodeError, Schema, decode, to_json, violation

    schema = Schema(load(file, import_paths, color))
    checked_type(schema, type_, tier)
    data, name = read_bytes(source, digits)
    try:
        value = decode(schema, type_, data, tier_of(tier))
    except DecodeError as error:
        malformed_bytes(error, data, name)
    try:
        say(to_json(schema, type_, value) + "\n")
    except EncodeError as error:
        malformed(f"error: {error}\n")
    refuse_broken(violation(schema, type_, value), name)
