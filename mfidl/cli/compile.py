"""F8. `mfidlc compile FILE... --cpp OUT --python OUT --NAME OUT --template DIR --out OUT`"""

import keyword

import click

from mfidl.cli.common import finish, schema_options
from mfidl.cli.generators import GeneratorCommand, generators_of
from mfidl.cli.remember import remember_run
from mfidl.plugin import TIMEOUT, Templates

_BUILTIN = ("cpp", "python")


def _package(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """A dotted name that Python can import, or nothing."""
    if value and not all(part.isidentifier() and not keyword.iskeyword(part) for part in value.split(".")):
        raise click.BadParameter(f"'{value}' is not a dotted Python package name, such as acme.generated")
    return value


@click.command("compile", cls=GeneratorCommand, epilog="--NAME OUT runs the program mfidlc-gen-NAME.")
@schema_options
@click.option("--cpp", metavar="OUT", help="Write C++ below this folder.")
@click.option(
    "--codecs", is_flag=True, help="In C++ write types and codecs alone: no clients, servants and topics."
)
@click.option("--python", metavar="OUT", help="Write Python below this folder.")
@click.option(
    "--python-package",
    metavar="PREFIX",
    default="",
    callback=_package,
    help="Import the generated Python below this package.",
)
@click.option(
    "--python-relative",
    is_flag=True,
    help="Let generated Python import itself relatively, so that OUT may be a package of any name.",
)
@click.option("--depfile", metavar="FILE", help="Write a make rule with the schemas that were read.")
@click.option(
    "--stamp",
    metavar="FILE",
    help="Touch FILE last. The make rule then makes FILE, of the schemas and of the compiler's own files.",
)
@click.option("--outputs", metavar="FILE", help="Write the names of the generated files, one a line.")
@click.option(
    "--plugin",
    "programs",
    metavar="NAME=PATH",
    multiple=True,
    help="The program for --NAME OUT and --NAME-opt KEY=VALUE, instead of mfidlc-gen-NAME on PATH.",
)
@click.option(
    "--plugin-timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True, max=86400),
    default=TIMEOUT,
    show_default=True,
    help="Time that each such program has.",
)
@click.option("--template", metavar="DIR", help="Render the Jinja2 templates (*.j2) of this folder.")
@click.option("--out", metavar="OUT", help="Write what --template renders below this folder.")
@click.pass_context
def command(
    context: click.Context,
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    style: str,
    color: str,
    cpp: str | None,
    codecs: bool,
    python: str | None,
    python_package: str,
    python_relative: bool,
    depfile: str | None,
    stamp: str | None,
    outputs: str | None,
    programs: tuple[str, ...],
    plugin_timeout: float,
    template: str | None,
    out: str | None,
) -> None:
    """Generate C++ and Python for schemas, and whatever generators and templates of yours make of them.
    Imported modules are read, not generated.
    """
    generators = generators_of(context, programs, plugin_timeout, _BUILTIN)
    templates = _templates(template, out)
    if cpp is None and python is None and not generators and templates is None:
        raise click.UsageError(
            "Nothing to generate. Give --cpp OUT, --python OUT, --NAME OUT, or --template DIR --out OUT."
        )
    from mfidl.compiler import Targets, compile_files

    targets = Targets(
        cpp,
        python,
        python_package,
        depfile,
        stamp,
        outputs,
        generators,
        templates,
        stubs=not codecs,
        is_relative=python_relative,
    )
    outcome = compile_files(files, import_paths, targets)
    if (
        context.obj is not None and not generators and templates is None
    ):  # generators and templates of others may read files that are not known here
        remember_run(context.obj, files, targets, outcome, style, color)
    finish(outcome, style, color)


def _templates(folder: str | None, out: str | None) -> Templates | None:
    if folder is None and out is None:
        return None
    if folder is None or out is None:
        raise click.UsageError("--template DIR and --out OUT go together.")
    return Templates(folder, out)
