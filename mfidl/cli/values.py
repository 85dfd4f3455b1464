"""F8. The common part of encode, decode, annotate and vectors: loading a program from a schema or a
descriptor, reading bytes, and reporting malformed values.
"""

import os
import stat
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import click

from mfidl.cli.common import finish

if TYPE_CHECKING:
    from mfidl.dynamic import DecodeError, Schema, UnknownTypeError, Violation
    from mfidl.model import Program, Tier

_TIERS = ("memcpy", "febird", "archive", "custom")
# The first byte of a binary descriptor: the tag of `format`, which no text begins with.
_DESCRIPTOR = b"\x08"
MALFORMED = 1


def program_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """FILE, --import-path and --color."""
    decorators = (
        click.argument("file", metavar="FILE"),
        click.option(
            "--import-path",
            "-I",
            "import_paths",
            metavar="DIR",
            multiple=True,
            help="Search imports here, after the folder of the importing file. May be repeated.",
        ),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colour in messages about the schema.",
        ),
    )
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def value_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, with TYPE and --tier."""
    typed = click.argument("type_", metavar="TYPE")
    tier = click.option(
        "--tier", type=click.Choice(_TIERS), help="Another tier than the schema plans, if TYPE can have it."
    )
    return program_options(typed(tier(command)))


def bytes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """BYTES and --hex."""
    source = click.argument("source", metavar="[BYTES]", required=False)
    digits = click.option("--hex", "digits", metavar="DIGITS", help="The bytes themselves, in hexadecimal.")
    return source(digits(command))


def load(file: str, import_paths: tuple[str, ...], color: str) -> "Program":
    """The program of a schema or descriptor. Exits if there is none."""
    if _begins_with_descriptor(file):
        from mfidl.descriptor.errors import DescriptorError
        from mfidl.descriptor.read import from_bytes

        try:
            return from_bytes(_read_file(file))
        except DescriptorError as failure:
            click.echo(f"mfidlc: `{file}`: {failure}.", err=True)
            raise SystemExit(MALFORMED) from None
    from mfidl.compiler import check

    outcome = check([file], import_paths)
    if outcome.program is None or outcome.exit:
        finish(outcome, "text", color)
    assert outcome.program is not None
    return outcome.program


def _begins_with_descriptor(file: str) -> bool:
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):  # noqa: PTH116 - a path as the user wrote it
            return False
        with open(file, "rb") as stream:  # noqa: PTH123
            return stream.read(1) == _DESCRIPTOR
    except (OSError, ValueError):
        return False  # `check` reports what is wrong with it


def tier_of(name: str | None) -> "Tier | None":
    from mfidl.model import Tier

    return None if name is None else Tier(name)


def checked_type(schema: "Schema", type_: str, tier: str | None) -> str:
    """The tier of the type's values. Exits with a usage error for an unknown type."""
    from mfidl.dynamic import UnknownTypeError
    from mfidl.dynamic.codec import possible_tier, root_of

    try:
        return possible_tier(schema, root_of(schema, type_), tier_of(tier)).value
    except UnknownTypeError as failure:
        raise usage(failure) from None


def usage(failure: "UnknownTypeError") -> click.UsageError:
    from mfidl.dynamic.pictures import of_type

    return click.UsageError(of_type(failure))


def read_bytes(source: str | None, digits: str | None) -> tuple[bytes, str]:
    """The bytes for a command, and their name in messages."""
    if digits is not None:
        if source is not None:
            raise click.UsageError("Give BYTES or --hex, not both.")
        return from_digits(digits), "--hex"
    if source is None or source == "-":
        return read_stdin("bytes"), "standard input"
    return _read_file(source), source


def read_stdin(what: str) -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(f"No {what}: give them as an argument, or on standard input.")
    return _read_all(sys.stdin.buffer, "standard input")


def _read_file(path: str) -> bytes:
    with open(path, "rb") as stream:  # noqa: PTH123 - a path as the user wrote it
        return _read_all(stream, path)


def _read_all(stream: BinaryIO, name: str) -> bytes:
    """Reads to the end, within the size limit of messages, since a device may have no end."""
    from mfidl.dynamic import Limits

    most = Limits().decoded
    try:
        data = stream.read(most + 1)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None
    if len(data) > most:
        fault = f"this goes on after the {most} bytes that a message may take"
        malformed(f"error[budget_exceeded]: {fault}\n --> {name}\n")
    return data


def from_digits(text: str) -> bytes:
    """Hexadecimal digits with blanks, commas, colons or line ends between bytes, and `0x` before them."""
    clean = text.replace("0x", "  ").replace("0X", "  ")
    digits, places = [], []
    for place, each in enumerate(clean):
        if each in "0123456789abcdefABCDEF":
            digits.append(each)
            places.append(place)
        elif each not in " \t\r\n,:_":
            raise _wrong_digits(text, place, f"`{each}` is no hexadecimal digit")
        elif len(digits) % 2:
            raise _wrong_digits(text, places[-1], "a byte has two digits, this one is alone")
    if len(digits) % 2:
        raise _wrong_digits(text, places[-1], "a byte has two digits, this one is alone")
    return bytes.fromhex("".join(digits))


def _wrong_digits(text: str, place: int, reason: str) -> click.UsageError:
    from mfidl.dynamic import UnknownTypeError
    from mfidl.dynamic.pictures import of_type

    return click.UsageError(f"--hex: {of_type(UnknownTypeError(text, place, place + 1, reason))}")


def write_bytes(data: bytes, out: str | None, as_hex: bool) -> None:
    """To a file, completely or not at all, or to standard output."""
    if as_hex:
        data = data.hex().encode() + b"\n"
    if out is None:
        if not as_hex and sys.stdout.isatty():
            raise click.UsageError("Bytes are not for a terminal. Give --hex or --out FILE.")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    from mfidl.diagnostics import Diagnostics
    from mfidl.emit.write import write_file

    diagnostics = Diagnostics()
    if not write_file(out, data, diagnostics):
        from mfidl.compiler import Exit, Outcome

        finish(Outcome(Exit.IO, diagnostics.sorted(), None), "text", "auto")


def malformed(text: str) -> NoReturn:
    """Reports a malformed value on standard error, and exits."""
    name = sys.stderr.encoding or "ascii"
    sys.stderr.write(text.encode(name, "replace").decode(name))
    raise SystemExit(MALFORMED)


def malformed_bytes(error: "DecodeError", data: bytes, source: str) -> NoReturn:
    from mfidl.dynamic.pictures import of_bytes

    malformed(of_bytes(error, data, source))


def refuse_broken(broken: "Violation | None", source: str) -> None:
    """Reports a value that violates a constraint of the schema."""
    if broken is not None:
        from mfidl.dynamic.pictures import of_violation

        malformed(of_violation(broken, source))


def say(text: str) -> None:
    """Prints a text with arbitrary characters to standard output, in UTF-8 if that is a file or a pipe."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        name = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(name, "replace").decode(name))
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
