"""F8. `mfidlc encode FILE TYPE [--json JSON|-]`"""

import click

from mfidl.cli.values import (
    checked_type,
    load,
    malformed,
    read_stdin,
    refuse_broken,
    tier_of,
    value_options,
    write_bytes,
)


@click.command("encode")
@value_options
@click.option("--json", "text", metavar="JSON", help="The value; `-`, or no --json: from standard input.")
@click.option("--hex", "as_hex", is_flag=True, help="Hexadecimal digits instead of bytes.")
@click.option("--out", metavar="FILE", help="Write FILE instead of standard output.")
def command(
    file: str,
    import_paths: tuple[str, ...],
    color: str,
    type_: str,
    tier: str | None,
    text: str | None,
    as_hex: bool,
    out: str | None,
) -> None:
    """Write a value, given as JSON, as the bytes that go over the wire.

    FILE is a schema, or what `mfidlc descriptor` wrote. TYPE is a name in it (`Hit`, `sf1.search.Hit`,
    `Index.query.params`) or an expression (`list<Hit>`). How values look as JSON: docs/json.md.
    A value that breaks a constraint of the schema is refused, as programs do.
    """
    if as_hex and out is not None:
        raise click.UsageError("Give --hex or --out, not both: digits are for people.")
    from mfidl.dynamic import DecodeError, EncodeError, Schema, encode, from_json, violation
    from mfidl.dynamic.pictures import of_json

    schema = Schema(load(file, import_paths, color))
    checked_type(schema, type_, tier)
    given = text is not None and text != "-"
    name = "--json" if given else "standard input"
    data = (text or "").encode("utf-8", "surrogateescape") if given else read_stdin("JSON")
    try:
        value = from_json(schema, type_, data)
        written = encode(schema, type_, value, tier_of(tier))
    except DecodeError as error:
        malformed(of_json(error, data, name))
    except EncodeError as error:
        malformed(f"error: {error}\n")
    refuse_broken(violation(schema, type_, value), name)
    write_bytes(written, out, as_hex)
