"""F8. `mfidlc explain FILE [NAME]`"""

import sys

import click

from mfidl.cli.common import finish, show


@click.command("explain")
@click.argument("file", metavar="FILE")
@click.argument("name", metavar="[TYPE|SERVICE|METHOD]", required=False)
@click.option(
    "--import-path",
    "-I",
    "import_paths",
    metavar="DIR",
    multiple=True,
    help="Search imports here, after the folder of the importing file. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON for tools, as docs/explain.md describes it.")
@click.option("--svg", "as_svg", is_flag=True, help="Pictures of the layouts, as one SVG file.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour in messages; the explanation itself has none.",
)
def command(
    file: str, name: str | None, import_paths: tuple[str, ...], as_json: bool, as_svg: bool, color: str
) -> None:
    """Tell the tier of each type and why, its layout, its bytes on the wire, and what other tiers would cost.

    TYPE, SERVICE or METHOD is a name of FILE or of a module that it imports: Hit, Index, Index.query.
    """
    if as_json and as_svg:
        raise click.UsageError("Give --json or --svg, not both.")
    from mfidl.compiler import check

    outcome = check([file], import_paths)
    style = "json" if as_json else "text"
    if outcome.program is None or outcome.exit:
        finish(outcome, style, color)
    assert outcome.program is not None
    from mfidl.explain import UnknownNameError, explain, render_text

    try:
        reports = explain(outcome.program, name)
    except UnknownNameError as failure:
        raise click.UsageError(str(failure)) from None
    if as_json:
        from mfidl.explain.as_json import render_json

        click.echo(render_json(reports), nl=False)
    elif as_svg:
        from mfidl.explain.svg import document, pictures

        drawn = list(pictures(reports))
        if not drawn:
            raise click.UsageError(
                "Nothing here has a layout: enums, flags, aliases and topics have no picture."
            )
        show(outcome.diagnostics, style, color)
        sys.stdout.flush()
        sys.stdout.buffer.write(document(drawn).encode())
    else:
        show(outcome.diagnostics, style, color)
        # A terminal that is not UTF-8 gets question marks for the letters that it does not have.
        encoding = sys.stdout.encoding or "ascii"
        click.echo(render_text(reports).encode(encoding, "replace").decode(encoding), nl=False)
