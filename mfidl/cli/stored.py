"""F8. What migrate and show share: files of values are read by the codecs of the Python runtime, which is the
one thing that these two commands need beside the compiler."""

from typing import NoReturn

import click

UNREADABLE = 3


def runtime() -> None:
    """Leaves in words where the runtime is missing."""
    try:
        import mf.values  # noqa: F401
    except ImportError:
        raise click.ClickException(
            "this command reads values by the Python runtime, the package `mf`, which is not installed here"
        ) from None


def tell(words: str) -> None:
    click.echo(f"mfidlc: {words}", err=True)


def refuse(code: str, message: str) -> NoReturn:
    """What a file cannot do: exit code 3 where the system says so, else 1."""
    tell(message)
    raise SystemExit(UNREADABLE if code == "UNAVAILABLE" else 1)
