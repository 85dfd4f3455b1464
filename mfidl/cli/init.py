"""F8. `mfidlc init [DIR]`"""

from pathlib import Path

import click


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="The module, namespace and package; DIR's name if not given.")
@click.option("--cpp", is_flag=True, help="Write a server and a client in C++.")
@click.option("--python", is_flag=True, help="Write them in Python. Without --cpp and --python: in both.")
def command(folder: Path, name: str | None, cpp: bool, python: bool) -> None:
    """Begin a project in DIR: a schema, a server, a client and a test, ready to be built and run.

    Writes new files only. In a project that has a CMakeLists.txt, a pyproject.toml, a README.md or a
    .gitignore, these stay as they are, and the command says what to add to them.
    """
    from mfidl.init import Project, RefusedError, suggested_name, why_not, write

    chosen = suggested_name(folder) if name is None else name
    problem = why_not(chosen, folder)
    if problem is not None:
        raise click.UsageError(f"The project cannot be called '{chosen}': {problem}. Give another --name.")
    languages = [language for language, asked in (("cpp", cpp), ("python", python)) if asked]
    project = Project(folder, chosen, languages or ["cpp", "python"])
    try:
        write(folder, project.files)
    except RefusedError as refused:
        click.echo(f"mfidlc: {refused}. Nothing was written.", err=True)
        raise SystemExit(3) from None
    click.echo(f"Wrote {len(project.files)} files in {folder}:")
    for path in project.files:
        click.echo(f"  {path}")
    for what, lines in project.to_add:
        click.echo(f"\n{what}:")
        for line in lines:
            click.echo(f"  {line}")
    click.echo("\nNext:")
    for line in [] if folder == Path() else [f"cd {folder}"]:
        click.echo(f"  {line}")
    for line in project.commands:
        click.echo(f"  {line}")
    click.echo(f"  {project.readme} says more.")
