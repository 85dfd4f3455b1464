"""F8. `mfidlc lint FILE...`"""

from pathlib import Path

import click

from mfidl.cli.common import finish, schema_options

_CONFIG = "mfidl.toml"


def _list_rules(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from mfidl.lint import CATALOGUE, OFF

    for code, row in CATALOGUE.items():
        click.echo(f"{code}  {row.title}{' (off unless asked for)' if code in OFF else ''}")
    context.exit()


@click.command("lint")
@schema_options
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_rules,
    help="List all rules, and stop.",
)
@click.option("--disable", metavar="CODE", multiple=True, help="Leave this rule out. May be repeated.")
@click.option(
    "--enable",
    metavar="CODE",
    multiple=True,
    help="Ask this rule, which is off unless asked for, or `all`. May be repeated.",
)
@click.option(
    "--config",
    metavar="FILE",
    help=f"Read [lint] of this file; {_CONFIG} in the current folder, if there is one.",
)
def command(
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    style: str,
    color: str,
    disable: tuple[str, ...],
    enable: tuple[str, ...],
    config: str | None,
) -> None:
    """Look for what a schema may say, but better should not.

    Exits with 1 if there is any. `mfidlc help L0503` explains a rule; `// lint: allow(L0503)` on the line, or
    on the one above, allows what it found.
    """
    from mfidl.lint import Settings, SettingsError, lint_files, read_settings

    try:
        text = _config_text(config)
        settings = Settings() if text is None else read_settings(text, config or _CONFIG)
        settings = settings.changed(enable, disable, "the command line")
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    finish(lint_files(files, import_paths, settings), style, color)


def _config_text(config: str | None) -> str | None:
    """None where there is no file, and none was asked for."""
    from mfidl.source import SIZE_LIMIT

    try:
        with Path(config or _CONFIG).open(encoding="utf-8") as stream:
            text = stream.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        if config is None:
            return None
        raise click.UsageError(f"--config: there is no file `{config}`.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise click.UsageError(f"cannot read `{config or _CONFIG}`: {reason}") from None
    if len(text) > SIZE_LIMIT:
        raise click.UsageError(f"cannot read `{config or _CONFIG}`: it goes on after {SIZE_LIMIT} letters")
    return text
