"""R1. The native module: whether it is there, and the plans of types for it.

The module `_mf_native` is of another distribution (mf-runtime-native, runtime/python-native), for one version
of Python and of this runtime. A module that is cut off, or of another version, is not used: one sentence says
why, and the pure codec does all of the work.
"""

import os
import struct
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from mf.codec import shape as s
from mf.core.generated import VERSION

PURE: Final = "MF_PURE"
"""The environment variable that turns the native codec off, if it is 1."""
_MODULE: Final = "_mf_native"
_DISTRIBUTION: Final = "mf-runtime-native"
_NAMES: Final = 3
"""SHT_STRTAB: the type of a section of names."""
_NEEDED: Final = (
    *("Plan", "construct", "replies", "requests", "append", "memory", "outcomes", "run", "begin", "gather"),
    "Waiter",
)


class Native(NamedTuple):
    """`module`: its `Plan` makes plans, its `construct` has a class be called by C++ (mf.codec.construct),
    and its other functions are for sessions and servers (mf.protocol.cutting, mf.server.dispatch); None:
    nothing native is in use. `why`: one sentence that says so."""

    module: Any
    why: str


@cache
def native() -> Native:
    """Found once in a process."""
    if os.environ.get(PURE) == "1":
        return Native(None, f"The native codec is turned off: {PURE}=1 is set.")
    try:
        spec = find_spec(_MODULE)
    except (ImportError, ValueError) as error:
        return _unusable(str(error))
    if spec is None or spec.origin is None:
        why = f"The native codec is not installed: no {_DISTRIBUTION} for {_python()} is there."
        return Native(None, why)
    if not _is_whole(Path(spec.origin)):
        return _unusable(f"{spec.origin} is cut off, so install {_DISTRIBUTION} again")
    try:
        module = import_module(_MODULE)
        if module.VERSION != VERSION:
            return _unusable(
                f"{_DISTRIBUTION} is of version {module.VERSION} and mf-runtime of version {VERSION}: "
                f"pip install '{_DISTRIBUTION}=={VERSION}'"
            )
        lacking = [name for name in _NEEDED if not hasattr(module, name)]
        if lacking:
            return _unusable(
                f"{spec.origin} has no {lacking[0]}, so it was built of other sources of this version: "
                f"install {_DISTRIBUTION} again"
            )
        why = f"The native codec {VERSION} is in use, from {spec.origin}."
        return Native(module, why)
    except Exception as error:  # whatever a module raises that is none of ours, or is damaged
        return _unusable(str(error) or type(error).__name__)


def _unusable(reason: str) -> Native:
    return Native(None, f"The native codec is there, but cannot be used: {reason}.")


def _python() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


def _is_whole(path: Path) -> bool:
    """Whether a library of Linux has all of its bytes: the loader of the system maps one that is cut off, or
    whose rest was never written, and ends the process when it reaches the missing part. The names and the
    table of sections are last in the file."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if sys.platform != "linux" or head[4:6] != b"\x02\x01":  # of 64 bits, the lowest byte first
                return len(head) > 0
            if len(head) < 64 or head[:4] != b"\x7fELF":
                return False
            (table,) = struct.unpack_from("<Q", head, 0x28)
            width, count, names = struct.unpack_from("<HHH", head, 0x3A)
            file.seek(table)
            sections = file.read(width * count)
            if len(sections) < width * count or names >= count:
                return False
            kind, at, size = struct.unpack_from("<4xI16xQQ", sections, width * names)
            file.seek(at)
            return kind == _NAMES and b".shstrtab\0" in file.read(size)
    except OSError:
        return False


def plan_of(shape: s.Composite) -> Any:
    """What reads and writes values of a type natively; False: the pure codec does. Decided once."""
    if shape.plan is None:
        shape.plan = _planned(shape)[0]
    return shape.plan


def reason_of(shape: s.Composite) -> str:
    """Why a type is not covered; empty if it is."""
    return _planned(shape)[1]


def _planned(shape: s.Composite) -> tuple[Any, str]:
    module, why = native()
    if module is None:
        return False, why
    from mf.codec.construct import construct
    from mf.codec.plan import NotCoveredError, classes_in, describe

    try:
        nodes = describe(shape)
        made = module.Plan(nodes)
        for kind in classes_in(nodes):
            construct(module.construct, kind)
        return made, ""
    except (NotCoveredError, OverflowError, ValueError) as error:
        return False, str(error)
