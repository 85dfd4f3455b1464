"""F8. `mfidlc migrate FILE... --schema NEW`"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from mfidl.cli.stored import refuse, runtime, tell
from mfidl.cli.values import checked_type, load, tier_of

if TYPE_CHECKING:
    from mfidl.model import Program

_TIERS = ("memcpy", "febird", "archive")


@click.command("migrate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--schema", "schema", metavar="SCHEMA", required=True, help="The schema that the files are to have."
)
@click.option(
    "--import-path",
    "-I",
    "import_paths",
    metavar="DIR",
    multiple=True,
    help="Search imports here, after the folder of the importing file. May be repeated.",
)
@click.option(
    "--type", "type_", metavar="NAME", help="The full name of the files' type there, if it is another one."
)
@click.option(
    "--tier", type=click.Choice(_TIERS), help="Another tier than the schema plans, if the type can have it."
)
@click.option("--out", "-o", metavar="OUT", help="Write this file, and leave FILE as it is. For one FILE.")
@click.option("--check", is_flag=True, help="Only tell; write nothing.")
@click.option(
    "--drop-fields", is_flag=True, help="Leave out, in place too, the values of fields that SCHEMA lacks."
)
@click.option("--drop-cut", is_flag=True, help="Leave out a value at the end of a file that is not whole.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour in messages about the schema.",
)
def command(
    files: tuple[str, ...],
    schema: str,
    import_paths: tuple[str, ...],
    type_: str | None,
    tier: str | None,
    out: str | None,
    check: bool,
    drop_fields: bool,
    drop_cut: bool,
    color: str,
) -> None:
    """Rewrite files of values to another schema of their type, in place or as --out.

    A file is replaced as a whole, and only if all of its values go over: otherwise it stays as it is, the
    values are printed, and the exit code is 1, as it is for files that no rule leads to the schema from, and
    for a file with fields that SCHEMA lacks, unless --drop-fields says that their values may be lost.
    SCHEMA is a schema, or what `mfidlc descriptor` wrote.
    """
    if out is not None and len(files) != 1:
        raise click.UsageError("--out is for one FILE.")
    runtime()
    program = load(schema, import_paths, color)
    drops = _Drops(drop_fields, drop_cut)
    lost = [not _migrate(file, program, schema, type_, tier, out, check, drops) for file in files]
    if any(lost):
        raise SystemExit(1)


@dataclass(frozen=True, slots=True)
class _Drops:
    """What may be lost."""

    fields: bool
    cut: bool


def _migrate(
    file: str,
    program: "Program",
    schema: str,
    type_: str | None,
    tier: str | None,
    out: str | None,
    check: bool,
    drops: _Drops,
) -> bool:
    """Whether all that is to go over does."""
    from mf.codec.texts import Texts
    from mf.core.error import Error
    from mf.values.migrated import migrate, type_of

    try:
        held = type_of(file)
        name = type_ or held
        descriptor, annex = _texts(program, schema, name, tier)
        done = migrate(
            file,
            Texts(descriptor, annex),
            out=out,
            was=held,
            check=check,
            drop_fields=drops.fields,
            drop_cut=drops.cut,
        )
    except Error as failure:
        refuse(failure.code.name, failure.message)
    for each in done.lost:
        tell(f"{file}: {each}")
    counted = f"{done.count:,} value{'' if done.count == 1 else 's'} of {held}"
    if done.left_out:
        click.echo(f"{file}: left out, since `{schema}` lacks them: {', '.join(done.left_out)}")
    if done.lost_count:
        do = "does" if done.lost_count == 1 else "do"
        click.echo(f"{file}: {counted}, of which {done.lost_count:,} {do} not go over; nothing was written")
    elif done.is_held_back:
        click.echo(f"{file}: {counted}; nothing was written: --drop-fields would lose their values")
    elif done.is_written:
        click.echo(f"{file}: {counted}, written to {out}" if out else f"{file}: {counted}, migrated")
    elif done.is_same:
        click.echo(f"{file}: {counted}, of this schema already")
    else:
        click.echo(f"{file}: {counted} {'goes' if done.count == 1 else 'go'} over")
    return not done.lost_count and not done.is_held_back


def _texts(program: "Program", schema: str, name: str, tier: str | None) -> tuple[str, str]:
    """Descriptor and annex of the type, in the tier that was asked for."""
    from mfidl import model
    from mfidl.dynamic import Schema
    from mfidl.plan.annex import Annexes
    from mfidl.plan.fingerprint import Descriptors
    from mfidl.plan.reach import Reach

    declared = dict(program.declarations)
    kind = declared.get(name)
    if kind is None or isinstance(kind, model.Alias):
        raise click.UsageError(f"`{schema}` declares no `{name}`; --type names the type of the file there.")
    if tier is not None:
        wanted = tier_of(checked_type(Schema(program), name, tier))
        if not isinstance(kind, model.Struct) or wanted is None:
            raise click.UsageError(f"`{name}` is no struct: it has one tier.")
        kind = declared[name] = replace(kind, plan=replace(kind.plan, tier=wanted))
    reach = Reach(declared)
    return Descriptors(reach).type(kind.reference), Annexes(reach).type(kind.reference)
