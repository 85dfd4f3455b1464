"""F6. External generators: programs `mfidlc-gen-NAME` (plugin.proto), and folders of Jinja2 templates.

Both read only the resolved program, and return files; neither accesses the disk. Their errors are for the
user to repair: a diagnostic (E09xx), never a traceback. docs/plugins.md is the guide.
"""

from dataclasses import dataclass

PREFIX = "mfidlc-gen-"
TIMEOUT = 60.0  # seconds that a generator has for its answer, unless the command line says otherwise
OUTPUT_LIMIT = 64 << 20  # bytes of an answer


@dataclass(frozen=True, slots=True)
class Generator:
    """`--NAME OUT`: the program that answers to the name, and the `--NAME-opt key=value` for it."""

    name: str
    program: str
    out: str
    options: tuple[tuple[str, str], ...] = ()
    timeout: float = TIMEOUT


@dataclass(frozen=True, slots=True)
class Templates:
    """`--template DIR --out OUT`."""

    folder: str
    out: str
