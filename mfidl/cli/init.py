"""F8. `mfidlc init [DIR]`"""

from pathlib import Path

import click


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="The module, namespace and package; DIR's name if not given.")
@click.option(
    "--lang", type=click.Choice(["cpp", "python", "both"]), default="both", help="What to write it in: both."
)
def command(folder: Path, name: str | None, lang: str) -> None:
    """Begin a project in DIR: a schema, a server and a client, ready to be built and run.

    Writes new files only.
    """
    from mfidl.init import LANGUAGES, RefusedError, project, suggested_name, why_not, write

    chosen = suggested_name(folder) if name is None else name
    problem = why_not(chosen)
    if problem is not None:
        raise click.UsageError(f"The project cannot be called '{chosen}': {problem}. Give another --name.")
    files = project(chosen, LANGUAGES[lang])
    try:
        write(folder, files)
    except RefusedError as refused:
        click.echo(f"mfidlc: {refused}. Nothing was written.", err=True)
        raise SystemExit(3) from None
    click.echo(f"Wrote {len(files)} files in {folder}:")
    for path in files:
        click.echo(f"  {path}")
    click.echo("\nNext:")
    for line in _next(folder, LANGUAGES[lang]):
        click.echo(f"  {line}")


def _next(folder: Path, languages: tuple[str, ...]) -> list[str]:
    lines = [] if folder == Path() else [f"cd {folder}"]
    if "cpp" in languages:
        lines += ["cmake -B build && cmake --build build", "build/server & build/client Ada; kill %%"]
    if "python" in languages:
        lines += ["pip install --no-build-isolation ."]
        lines += ["python python/server.py & python python/client.py Ada; kill %%"]
    return [*lines, "README.md says more."]
