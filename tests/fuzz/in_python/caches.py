"""What runs of the compiler leave behind for later ones: any bytes are no record of a run and no manifest, or
ones whose fields have their types. The first byte says what the rest is:

    0    a record in the cache
    1    the fields of a record, as Python writes them, which get the right digest. Bytes of marshal are not
         given one, since Python promises nothing for damaged ones: a digest that fits is written by this user
         alone (mfidl/private.py)
    2    the manifest beside generated files
"""

import ast
import marshal
import os
from unittest import mock

from mfidl import cache
from mfidl.emit.write import _load_manifest
from mfidl.places import MANIFEST
from tests.fuzz.in_python.harness import Target
from tests.fuzz.in_python.imported import temporary

_ARGUMENTS = ("compile", "a.mfidl", "--python", "out")
_RUN = (
    [("a.mfidl", "/a/a.mfidl", b"d")],
    ["b.mfidl"],
    [("out/a.py", b"e")],
    "a.stamp",
    "said",
    "warned",
    True,
)
_WORDS = (
    b"None",
    b"True",
    b"1",
    b"b'd'",
    b"'a'",
    b"[]",
    b"()",
    b"{}",
    b",",
    b"(",
    b")",
    b"[",
    b"]",
    b"1.5",
    b"-1",
)


def seeds() -> list[bytes]:
    body = marshal.dumps((cache._compiler_digest(), *_RUN))
    manifest = b'{"version": 2, "files": {"a/b.hpp": ["cpp a"]}, "written": {"a/b.hpp": "00"}}'
    return [b"\0" + cache.digest(body) + body, b"\1" + repr(_RUN).encode(), b"\2" + manifest]


def refusal(data: bytes) -> str:
    if data[:1] == b"\2":
        return _manifest(data[1:])
    record = data[1:]
    if data[:1] == b"\1":
        try:
            fields = ast.literal_eval(record.decode())
            body = marshal.dumps((cache._compiler_digest(), *fields))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return "no fields"
        record = cache.digest(body) + body
    with mock.patch.dict(os.environ, {"MFIDL_CACHE": str(temporary())}):
        path = cache._path(str(temporary()), _ARGUMENTS)
        with open(path, "wb") as file:  # noqa: PTH123 - as the cache names it
            file.write(record)
        found = cache._load(_ARGUMENTS)
        assert cache.recall(_ARGUMENTS, ["out"]) is None  # no file is where it says
    if found is None:
        return "no record"
    assert all(len(row) == 3 for row in found.inputs)
    assert all(isinstance(part, str) for part in (*found.absent, found.stdout, found.stderr))
    return ""


def _manifest(data: bytes) -> str:
    root = temporary() / "root"
    root.mkdir(exist_ok=True)
    (root / MANIFEST).write_bytes(data)
    owners = _load_manifest(str(root)).owners
    assert all((root / path).resolve().is_relative_to(root.resolve()) for path in owners)
    return "" if owners else "no manifest"


TARGET = Target("caches", seeds, refusal, _WORDS, cost=10)
