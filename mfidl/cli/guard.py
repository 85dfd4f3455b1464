"""F8. Wraps every command: each failure ends in an exit code and at most one clear line, never in a
traceback.
"""

import os
import sys
from collections.abc import Sequence

INTERNAL = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # a shell's exit code for SIGINT
BROKEN_PIPE = 141  # ... and for SIGPIPE
_IO = 3


def guarded(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code."""
    _open_closed_streams()
    try:
        code = _run(arguments)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # here, where a failure can be reported, instead of at the interpreter's exit
        return code
    except KeyboardInterrupt:
        return _say("interrupted; nothing was left half-written", INTERRUPTED)
    except BrokenPipeError:
        _leave_streams()
        return BROKEN_PIPE
    except OSError as error:
        what = f"`{error.filename}`" if error.filename else "cannot write to standard output"
        _leave_streams()
        return _say(f"{what}: {error.strerror or error}", _IO)
    except Exception as error:
        return _internal(error)


def leave(code: int) -> None:
    """Ends the process after `guarded`. Python's own end would free every object of the compiler, which takes
    an eighth of a large run.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(code)  # `guarded` has reported a failure to write


def _open_closed_streams() -> None:
    """A stream that the caller closed (`>&-`) is None, and the next opened file would get its number. These
    replacements have no input, fail on output, and drop messages.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _run(arguments: Sequence[str]) -> int:
    if arguments == ["--version"]:  # answered before any import
        from mfidl import __version__

        print(f"mfidlc {__version__}")
        return 0
    if arguments[:1] == ["compile"] and _is_remembered(arguments):
        return 0
    import click

    from mfidl.cli.group import cli

    if "_MFIDLC_COMPLETE" in os.environ:
        cli.main(list(arguments), prog_name="mfidlc")  # shell completion, which Click handles
    try:
        # Not `cli.main`, which turns a broken pipe and an interrupt into exit code 1.
        with cli.make_context("mfidlc", list(arguments), obj=tuple(arguments)) as context:
            result = cli.invoke(context)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as mistake:
        from mfidl.cli.hints import with_hint

        with_hint(mistake).show()
        return mistake.exit_code
    except click.ClickException as mistake:
        mistake.show()
        return mistake.exit_code
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)


def _is_remembered(arguments: Sequence[str]) -> bool:
    """Whether this run has nothing to do; then the earlier messages are printed again. It is checked first,
    because importing the compiler takes longer.
    """
    from mfidl.cache import recall

    run = recall(arguments, _roots(arguments))
    if run is None or (not run.plain and sys.stderr.isatty()):
        return False
    sys.stdout.write(run.stdout)
    sys.stderr.write(run.stderr)
    return True


def _roots(arguments: Sequence[str]) -> list[str]:
    """The output roots of `compile` that the arguments name, without Click."""
    roots: list[str] = []
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option in ("--cpp", "--python"):
            roots += [value] if equals else arguments[at + 1 : at + 2]
    return roots


def _internal(error: Exception) -> int:
    """An error of the compiler. The traceback is shown only on request."""
    if os.environ.get("MFIDLC_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return _say(
        f"internal error: {text}. This is a bug in mfidlc, not in your schema: please report it with the"
        " schema and the output of MFIDLC_DEBUG=1 mfidlc ...",
        INTERNAL,
    )


def _say(line: str, code: int) -> int:
    try:
        name = sys.stderr.encoding or "ascii"
        print(f"mfidlc: {line}".encode(name, "replace").decode(name), file=sys.stderr)
    except (OSError, ValueError):
        _leave_streams()
    return code


def _leave_streams() -> None:
    """No reader is left: buffered output must not fail again when the interpreter exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
