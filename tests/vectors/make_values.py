"""Writes tests/vectors/values/values.json: files of values of two schemas, and what readers of either make of
them. `python -m tests.vectors.make_values`; a test holds what is checked in to what this makes.

    files     each "name", "schema" (old or new), "type", "hex", the bytes of the file, and "read": by reader
              (old, new) either "refused", the words, or "values": for each value its JSON or {"fault": words}
    hostile   each "name", "hex", "values": how many stand before the fault, and "fault", the words; all are
              of the type stored.Point, read by the old schema

In words, the file is called FILE.
"""

import io
import json
import shutil
import sys
import tempfile
from functools import cache
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

import mf
from mf.codec.texts import Texts
from mf.values.form import head, record
from mf.values.texts import texts_of
from mfidl.compiler import Exit, Targets, compile_files

FOLDER = Path(__file__).parent / "values"
TARGET = FOLDER / "values.json"
FILE = "FILE"
LOOP = "value stored.Point\ntype stored.Point struct febird\n a stored.Point\n"


@cache
def _out() -> Path:
    import atexit

    out = Path(tempfile.mkdtemp(prefix="mf-values-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    sys.path.insert(0, str(out))
    return out


@cache
def module(schema: str) -> ModuleType:
    """The generated package of `old` or `new`."""
    targets = Targets(python=str(_out()), python_package=f"values_{schema}")
    outcome = compile_files([str(FOLDER / f"{schema}.mfidl")], [], targets)
    assert outcome.exit is Exit.OK, outcome.diagnostics
    invalidate_caches()
    return import_module(f"values_{schema}.stored")


VALUES: dict[str, dict[str, list[str]]] = {
    "old": {
        "Rank": ['"good"', '"best"', '"plain"'],
        "Marks": ['["seen","odd"]', "[]"],
        "Point": [
            '{"x":7,"y":-2,"rank":"plain"}',
            '{"x":70000,"y":1,"rank":"good"}',
            '{"x":1,"y":1,"rank":"best"}',
            '{"x":65535,"y":32767,"rank":"good"}',
        ],
        "Hit": [
            '{"doc":300,"title":"ab","score":1.5,"marks":["kept"],"places":[0,127,128],"names":{"b":2,"a":1},'
            '"inside":{"x":1,"y":2,"rank":"plain"}}',
            '{"doc":1,"title":"","score":0,"marks":[],"places":[],"names":{"a":65536},"inside":null}',
            '{"doc":2,"title":"c","score":0,"marks":[],"places":[],"names":{},"inside":{"x":70000,"y":0,"rank":"plain"}}',
            '{"doc":3,"title":"d","score":-0.25,"marks":["odd"],"places":[1],"names":{},"inside":null}',
        ],
        "Node": [
            '{"node":[{"name":"a","size":1,"next":1},{"name":"b","size":2,"next":0}]}',
            '{"node":[{"name":"c","size":4294967296}]}',
            '{"node":[{"name":"d","size":3,"gone":"x"}]}',
        ],
        "Shape": [
            '{"point":{"x":1,"y":2,"rank":"good"}}',
            '{"text":"t"}',
            '{"hit":{"doc":1,"title":"","score":0,"marks":[],"places":[],"names":{},"inside":null}}',
        ],
        "Missing": ['{"name":"n"}'],
        "Torn": ['{"word":"w"}'],
    },
    "new": {
        "Point": ['{"y":1,"x":2,"rank":"good","weight":2.5}', '{"y":40000,"x":2,"rank":"plain","weight":0}'],
        "Hit": [
            '{"marks":["odd"],"id":5,"title":"t","score":0.5,"places":null,"names":{"a":1},"inside":null,"places_too":[1]}'
        ],
        "Node": ['{"node":[{"name":"YQ==","size":1,"added":"x"}]}', '{"node":[{"name":"/w==","size":1}]}'],
        "Missing": ['{"name":"n","code":8}'],
    },
}


def kind_of(schema: str, name: str) -> Any:
    return getattr(module(schema), name)


def file_of(schema: str, name: str) -> bytes:
    kind = kind_of(schema, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        with mf.ValueWriter(path, kind) as out:
            for text in VALUES[schema][name]:
                out.write(mf.from_json(kind, text))
        return path.read_bytes()


def named(data: bytes) -> Any:
    made: Any = io.BytesIO(data)
    made.name = FILE
    return made


def read_by(schema: str, name: str, data: bytes) -> dict[str, Any]:
    kind = kind_of(schema, name)
    try:
        reader = mf.ValueReader(named(data), kind)
    except mf.Error as why:
        return {"refused": f"{why.code.name}: {why.message}"}
    values: list[Any] = []
    while True:
        try:
            values.append(json.loads(mf.to_json(next(reader), kind)))
        except StopIteration:
            return {"values": values}
        except mf.Error as why:
            values.append({"fault": f"{why.code.name}: {why.message}"})


def _hostile() -> dict[str, bytes]:
    point = kind_of("old", "Point")
    texts = texts_of(point)
    start = head(texts)
    values = [mf.to_bytes(mf.from_json(point, text)) for text in VALUES["old"]["Point"][:2]]
    records = [record(number, value) for number, value in enumerate(values)]
    whole = start + b"".join(records)

    def changed(at: int, to: bytes) -> bytes:
        return whole[:at] + to + whole[at + len(to) :]

    first, second = len(start), len(start) + len(records[0])
    service = texts.descriptor.replace("value ", "topic ", 1)
    found = {
        "empty": b"",
        "another file": b"#!/bin/sh\n" * 8,
        "another file that is short": b"MFV",
        "a head that is cut": start[:20],
        "texts that are cut": start[:-9],
        "a later version": changed(8, b"\2"),
        "a descriptor without a byte": changed(12, bytes(4)),
        "a descriptor of 4 GiB": changed(12, b"\xff\xff\xff\xff"),
        "an annex of 4 GiB": changed(16, b"\xff\xff\xff\xff"),
        "a head with more in it": changed(20, b"\1"),
        "a letter of the descriptor": changed(30, b"~"),
        "a descriptor that is no UTF-8": head(Texts("a", "")).replace(b"a", b"\xff"),
        "a descriptor that is none": head(Texts("nothing\n", "")),
        "a descriptor of a service": head(Texts("service a.B\n", "")),
        "a descriptor of a topic": head(Texts(service, "")),
        "a type that holds itself": head(Texts(LOOP, "")),
        "an annex of something else": head(Texts(texts.descriptor.replace("i16", "i32"), "annex b.C\n")),
        "a record that is cut in its head": whole[: second + 7],
        "a record that is cut in its value": whole[: second + 18],
        "a record that is cut in its zeros": whole[:-1],
        "a length of 4 GiB": changed(second + 8, b"\xff\xff\xff\xff"),
        "a length of a cut value that is another": changed(second + 8, b"\x70")[:-3],
        "a length that is one too much": changed(second + 8, bytes([len(values[1]) + 1])),
        "a bit of a value": changed(second + 16, b"\1"),
        "a bit of a sum": changed(first, bytes([whole[first] ^ 1])),
        "zeros that are none": changed(len(whole) - 1, b"\1"),
        "zeros behind the values": whole + bytes(64),
        "zeros in the place of a value and behind it": whole[: second + 16] + bytes(600),
        "zeros in the head of a record and behind it": whole[: second + 3] + bytes(600),
        "zeros in the place of all values": start + bytes(600),
        "zeros in the head and behind it": start[:100] + bytes(600),
        "zeros alone": bytes(600),
        "zeros, and something behind them": whole[: second + 16] + bytes(600) + b"\1",
        "zeros in the place of a value that is not the last": start + bytes(len(records[0])) + records[1],
        "zeros alone, and something behind them": bytes(600) + b"\1",
        "a value that ends damaged, and zeros behind it": changed(second + 23, b"\1") + bytes(600),
        "a value that comes twice": whole + records[1],
        "a value that is missing": start + records[1],
        "a value that is too short": start + record(0, values[0][:-1]),
        "a value without a byte": start + record(0, b""),
    }
    fixed = found["a descriptor that is no UTF-8"]
    from mf.codec.hashing import hash64

    found["a descriptor that is no UTF-8"] = fixed[:-8] + hash64(fixed[:-8]).to_bytes(8, "little")
    return found


def _hostile_case(name: str, data: bytes) -> dict[str, Any]:
    read = read_by("old", "Point", data)
    values = read.get("values", [])
    faults = [each["fault"] for each in values if "fault" in each] or [read.get("refused", "")]
    return {
        "name": name,
        "hex": data.hex(),
        "values": sum("fault" not in each for each in values),
        "fault": faults[0],
    }


def made() -> dict[str, Any]:
    files = []
    for schema, types in VALUES.items():
        for name in types:
            data = file_of(schema, name)
            read = {by: read_by(by, name, data) for by in ("old", "new")}
            files.append(
                {
                    "name": f"{schema} {name}",
                    "schema": schema,
                    "type": f"stored.{name}",
                    "hex": data.hex(),
                    "read": read,
                }
            )
    return {"files": files, "hostile": [_hostile_case(*each) for each in _hostile().items()]}


def text() -> str:
    return json.dumps(made(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())
