"""F8. `mfidlc compile FILE... --cpp OUT --python OUT`"""

import keyword

import click

from mfidl.cli.common import finish, schema_options


def _package(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """A dotted name that Python can import, or nothing."""
    if value and not all(part.isidentifier() and not keyword.iskeyword(part) for part in value.split(".")):
        raise click.BadParameter(f"'{value}' is not a dotted Python package name, such as acme.generated")
    return value


@click.command("compile")
@schema_options
@click.option("--cpp", metavar="OUT", help="Write C++ below this folder.")
@click.option("--python", metavar="OUT", help="Write Python below this folder.")
@click.option(
    "--python-package",
    metavar="PREFIX",
    default="",
    callback=_package,
    help="Import the generated Python below this package.",
)
@click.option("--depfile", metavar="FILE", help="Write a make rule with the schemas that were read.")
@click.option(
    "--stamp",
    metavar="FILE",
    help="Touch FILE last. The make rule then makes FILE, of the schemas and of the compiler's own files.",
)
@click.option("--outputs", metavar="FILE", help="Write the names of the generated files, one a line.")
def command(
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    style: str,
    color: str,
    cpp: str | None,
    python: str | None,
    python_package: str,
    depfile: str | None,
    stamp: str | None,
    outputs: str | None,
) -> None:
    """Generate C++ and Python for schemas. Imported modules are read, not generated."""
    if cpp is None and python is None:
        raise click.UsageError("Nothing to generate. Give --cpp OUT, --python OUT, or both.")
    from mfidl.compiler import Targets, compile_files

    targets = Targets(cpp, python, python_package, depfile, stamp, outputs)
    finish(compile_files(files, import_paths, targets), style, color)
