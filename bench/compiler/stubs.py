"""The stubs of a typical service, and of a large one: what g++ needs for our source and for gRPC's, in
turn.

The services have 6 and 19 methods of two parameters, which return numbers, structs and lists of them; every
second one can end with an error. Both sources hold client and server; ours holds the codecs, too, where gRPC
has a source of its own for the messages.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from compiler.process import cost
from harness.rows import Samples

_WHERE = "unpinned"
WORKS = {"stubs_6": 6, "stubs_19": 19}
"""How many methods each has."""

_LEVELS = ("-O0", "-O2")

_MFIDL = """\
module stubs;

struct Item { name: string; count: u32; tags: list<string>; price: f64; }
struct Page { items: list<Item>; next: u64?; }
error Missing { name: string; }

service Store {
METHODS}
"""
_PROTO = """\
syntax = "proto3";
package stubs;

message Item { string name = 1; uint32 count = 2; repeated string tags = 3; double price = 4; }
message Page { repeated Item items = 1; optional uint64 next = 2; }
message Count { uint64 value = 1; }
message Items { repeated Item value = 1; }
MESSAGES
service Store {
METHODS}
"""


def measure(folder: Path, cxx: Sequence[str], rounds: int, samples: Samples) -> None:
    """Generates both below `folder`; `cxx` is a compiler with the include folders of our runtime."""
    for work, count in WORKS.items():
        files = _files(folder / work, count)
        for _ in range(rounds):
            for level in _LEVELS:
                for name, file in files.items():
                    command = [*cxx, f"-I{file.parent}", level, "-w", "-c", "-o", os.devnull, str(file)]
                    samples.add(work, _WHERE, f"{name} {level}", cost(command).metrics())


def _files(folder: Path, count: int) -> dict[str, Path]:
    ours = _ours(folder, count)
    files = {"mf/all": ours / "stubs.cpp"}
    plugin = shutil.which("grpc_cpp_plugin")
    if plugin is not None and shutil.which("protoc"):
        files["grpc/both"] = _grpc(folder, plugin, count) / "stubs.grpc.pb.cc"
    return files


def _ours(folder: Path, count: int) -> Path:
    results = ("Page", "u64", "list<Item>")
    methods = [
        f"  m{i}(name: string, count: u32) -> {results[i % 3]}{' throws Missing' if i % 2 else ''};\n"
        for i in range(count)
    ]
    return _generated(folder / "mf", "stubs.mfidl", _MFIDL.replace("METHODS", "".join(methods)), _mfidlc)


def _grpc(folder: Path, plugin: str, count: int) -> Path:
    results = ("Page", "Count", "Items")
    messages = [f"message M{i}Request {{ string name = 1; uint32 count = 2; }}\n" for i in range(count)]
    methods = [f"  rpc M{i}(M{i}Request) returns ({results[i % 3]});\n" for i in range(count)]
    text = _PROTO.replace("MESSAGES", "".join(messages)).replace("METHODS", "".join(methods))

    def protoc(out: Path, file: Path) -> list[str]:
        options = [f"--proto_path={out}", f"--cpp_out={out}", f"--grpc_out={out}"]
        return ["protoc", *options, f"--plugin=protoc-gen-grpc={plugin}", str(file)]

    return _generated(folder / "grpc", "stubs.proto", text, protoc)


def _mfidlc(out: Path, file: Path) -> list[str]:
    return [str(Path(sys.executable).with_name("mfidlc")), "compile", "--cpp", str(out), str(file)]


def _generated(out: Path, name: str, text: str, command: Callable[[Path, Path], list[str]]) -> Path:
    out.mkdir(parents=True)
    (out / name).write_text(text, encoding="ascii")
    cost(command(out, out / name))
    return out
