"""The command `mf`: asks, calls, watches and measures services (docs/tools.md). It stands on the public
interface of the runtime alone.
"""

__version__ = "0.1.0"


def main() -> None:
    """The entry point `mf`."""
    try:
        import sys

        from mf_tools.guard import guarded, leave

        leave(guarded(sys.argv[1:]))
    except KeyboardInterrupt:  # before `guarded` could see it, or after
        import os

        os.write(2, b"mf: interrupted\n")
        os._exit(130)
