"""Wraps every command: each failure ends in an exit code and at most one line, never in a traceback.

0 well, 1 a call failed or a check found something, 2 wrong use, 3 a file or the output failed, 4 no answer,
5 denied, 6 an error that the schema declares, 70 a fault of the tool, 130 interrupted, 141 the output is
closed.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

FAILED, USAGE, FILES, NO_ANSWER, DENIED, DECLARED = 1, 2, 3, 4, 5, 6
INTERNAL = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

_NO_ANSWER = ("DEADLINE_EXCEEDED", "OVERLOADED", "UNAVAILABLE", "CONNECTION_LOST", "SHUTTING_DOWN")
_DENIED = ("UNAUTHENTICATED", "PERMISSION_DENIED")
_LONGEST = 2000


class CommandError(Exception):
    """Ends a command: one line, and an exit code."""

    def __init__(self, line: str, code: int = FAILED) -> None:
        super().__init__(line)
        self.line = line
        self.code = code


def guarded(arguments: Sequence[str]) -> int:
    """Runs one command line; the exit code."""
    _open_closed_streams()
    if not sys.warnoptions:  # they are for programmers; one that is interrupted may have a coroutine left
        warnings.simplefilter("ignore")
    try:
        code = _run(arguments)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # here, where a failure can be reported
        return code
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _leave_streams()
        return BROKEN_PIPE
    except OSError as error:
        if hasattr(error, "code"):  # an mf.Error, of which some are of Python's kinds, too
            return _failed(error)
        what = f"'{error.filename}'" if error.filename else "cannot write"
        _leave_streams()
        return _say(f"{what}: {error.strerror or error}", FILES)
    except Exception as error:
        return _failed(error)


def leave(code: int) -> None:
    """Ends the process after `guarded`, without waiting for threads of connections."""
    try:
        with suppress(OSError, ValueError):
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
    finally:
        os._exit(code)


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:  # before any import
        from mf_tools import __version__

        print(f"mf {__version__}")
        return 0
    import click

    from mf_tools.group import cli

    if "_MF_COMPLETE" in os.environ:
        cli.main(list(arguments), prog_name="mf")  # completion, which Click handles
    try:
        # Not `cli.main`, which turns a broken pipe and an interrupt into exit code 1.
        with cli.make_context("mf", list(arguments)) as context:
            result = cli.invoke(context)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as page:
        page.show()
        return USAGE
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as mistake:
        return _say(_usage(mistake), USAGE if isinstance(mistake, click.UsageError) else FILES)


def _usage(mistake: Exception) -> str:
    import click

    assert isinstance(mistake, click.ClickException)
    context = getattr(mistake, "ctx", None)
    place = f" (see: {context.command_path} --help)" if context is not None else ""
    return mistake.format_message() + place


def _failed(error: Exception) -> int:
    if isinstance(error, CommandError):
        return _say(error.line, error.code)
    if "mf" in sys.modules:
        import mf

        if isinstance(error, mf.DecodeError):
            return _say(f"{error.code.name}: {error.message}", FAILED)
        if isinstance(error, mf.Error):
            return _say(str(error), code_of(error))
        if isinstance(error, mf.MfError):
            return _say(str(error), DECLARED)
    return _internal(error)


def code_of(error: Exception) -> int:
    """The exit code for the failure of a call."""
    name = getattr(getattr(error, "code", None), "name", "")
    if not name:
        return DECLARED
    return NO_ANSWER if name in _NO_ANSWER else DENIED if name in _DENIED else FAILED


def _internal(error: Exception) -> int:
    if os.environ.get("MF_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    text = f"{type(error).__name__}: {error}"[:200]
    return _say(f"internal error: {text}; please report it with the output of MF_DEBUG=1 mf ...", INTERNAL)


def _say(line: str, code: int) -> int:
    from mf_tools.output import safe

    try:
        name = sys.stderr.encoding or "ascii"
        text = safe(" ".join(line.split()))[:_LONGEST]
        print(f"mf: {text}".encode(name, "replace").decode(name), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _leave_streams()
    return code


def _open_closed_streams() -> None:
    """A stream that the caller closed (`>&-`) is None, and the next opened file would get its number."""
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _leave_streams() -> None:
    """No reader is left: buffered output must not fail again when the interpreter exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
