"""F6. The words that no name in generated C++ may be, and the conversion of a schema's name to a legal
one."""

import re
from functools import cache
from pathlib import Path

from mfidl.emit.naming import CPP_RESERVED

_HERE = Path(__file__).resolve().parent


@cache
def macros() -> frozenset[str]:
    """Macros that common headers define, and that are not reserved by C++ itself."""
    return _words("macros.txt") - CPP_RESERVED


@cache
def everywhere() -> frozenset[str]:
    """Keywords, macros, and what generated code says in every scope."""
    return CPP_RESERVED | macros()


@cache
def outermost() -> frozenset[str]:
    """For the first component of a namespace: also the global names of C, like `time` and `index`."""
    return everywhere() | _words("globals.txt")


def legal(name: str) -> str:
    """The name without what C++ keeps for its own: two underscores in a row, or one before a capital."""
    if "__" not in name and not re.match("_[A-Z]", name):
        return name
    single = re.sub("__+", "_", name)
    bare = single.lstrip("_") if re.match("_[A-Z]", single) else single
    return bare if bare.endswith("_") else f"{bare}_"


def _words(file: str) -> frozenset[str]:
    lines = (_HERE / file).read_text(encoding="ascii").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
