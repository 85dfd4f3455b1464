"""What `make bench-compiler` runs: mfidlc, protoc, capnp and flatc on one schema, run by run in turn.

Cold means: a new process, an empty cache of mfidlc, and no output of an earlier run. Python's bytecode of the
compiler and of its templates exists, as it does after the first run on any machine.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler import schema, stubs, translate
from compiler.process import cost
from harness.child import BenchError
from harness.rows import Samples

NAME = "compiler"
CHART = {
    "version": "ms",
    "nothing_changed": "ms",
    "compile_5000": "ms",
    "compile_services": "ms",
    "include_5000": "ms",
    "object_1000": "ms",
    **dict.fromkeys(stubs.WORKS, "ms"),
}
_ROOT = Path(__file__).resolve().parents[2]
_WHERE = "unpinned"
_CXX = ("g++", "-std=c++20", f"-I{_ROOT / 'runtime/cpp/include'}")


@dataclass(frozen=True, slots=True)
class Peer:
    """A compiler: how it is called for a schema and an output folder, and which of its C++ files are
    compiled."""

    name: str
    program: str
    file: str
    text: str
    arguments: tuple[str, ...]  # with {out} and {folder}
    header: str = ""  # what a user of the types includes
    source: str = ""  # what is compiled once; a header if everything is inline


def _peers(text: Mapping[str, str]) -> list[Peer]:
    """`text` has the schema in the four languages."""
    mf = (str(Path(sys.executable).with_name("mfidlc")), "bench.mfidl", text["mfidl"])
    pb = ("protoc", "bench.proto", text["proto"])
    fb = ("flatc", "bench.fbs", text["fbs"])
    cp = ("capnp", "bench.capnp", text["capnp"])
    path = ("--proto_path={folder}",)
    flat = ("--gen-object-api", "--gen-compare", "-o", "{out}")
    header, source = "bench.hpp", "bench.cpp"
    return [
        Peer("mf/c++ & python", *mf, ("compile", "--cpp", "{out}/cpp", "--python", "{out}/python")),
        Peer("mf/c++", *mf, ("compile", "--cpp", "{out}"), header, source),
        Peer("mf/python", *mf, ("compile", "--python", "{out}")),
        Peer("protoc/c++ & python", *pb, (*path, "--cpp_out={out}", "--python_out={out}", "--pyi_out={out}")),
        Peer("protoc/c++", *pb, (*path, "--cpp_out={out}"), "bench.pb.h", "bench.pb.cc"),
        Peer("protoc/python", *pb, (*path, "--python_out={out}", "--pyi_out={out}")),
        Peer(
            "capnp/c++",
            *cp,
            ("compile", "-I/usr/include", "--src-prefix={folder}", "-oc++:{out}"),
            "bench.capnp.h",
            "bench.capnp.c++",
        ),
        Peer("flatc/c++ & python", *fb, ("--cpp", "--python", *flat)),
        Peer("flatc/c++", *fb, ("--cpp", *flat), "bench_generated.h", "bench_generated.h"),
        Peer("flatc/python", *fb, ("--python", *flat)),
    ]


class _Bench:
    def __init__(self, folder: Path, lines: int, samples: Samples, shape: schema.Shape = schema.DATA) -> None:
        self._folder = folder
        self._samples = samples
        self._env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        self._env |= {
            "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode"),
            "MFIDL_CACHE": str(folder / "cache"),
        }
        made = schema.make(lines, shape)
        writers = {"mfidl": translate.mfidl, "proto": translate.proto, "capnp": translate.capnp}
        text = {name: write(made) for name, write in {**writers, "fbs": translate.flatbuffers}.items()}
        self.peers = [peer for peer in _peers(text) if shutil.which(peer.program)]
        for peer in self.peers:
            (folder / peer.file).write_text(peer.text, encoding="ascii")

    def out(self, peer: Peer) -> Path:
        return self._folder / "".join(c if c.isalnum() else "_" for c in peer.name)

    def cold(self, work: str, peer: Peer, counted: bool) -> None:
        shutil.rmtree(self._folder / "cache", ignore_errors=True)
        shutil.rmtree(self.out(peer), ignore_errors=True)
        self.out(peer).mkdir()
        self._measure(work, peer.name, self._command(peer), counted)
        if counted:
            size = sum(path.stat().st_size for path in self.out(peer).rglob("*") if path.is_file())
            self._samples.add(work, _WHERE, peer.name, {"generated_kb": size / 1024})

    def again(self, peer: Peer, counted: bool) -> None:
        """Runs it again with nothing changed. Only mfidlc detects that; the others write everything again."""
        self._measure("nothing_changed", peer.name, self._command(peer), counted)

    def version(self, peer: Peer, counted: bool) -> None:
        name = peer.name.split("/", maxsplit=1)[0]
        self._measure("version", name, [peer.program, "--version"], counted)

    def cxx(self, work: str, peer: Peer, file: str, options: Sequence[str], name: str) -> None:
        folder = self.out(peer)
        command = [*_CXX, f"-I{folder}", *options, "-x", "c++", str(folder / file)]
        self._measure(work, name, command, counted=True)

    def _command(self, peer: Peer) -> list[str]:
        out = self.out(peer)
        return [
            peer.program,
            *(each.format(out=out, folder=self._folder) for each in peer.arguments),
            str(self._folder / peer.file),
        ]

    def _measure(self, work: str, name: str, command: Sequence[str], counted: bool) -> None:
        metrics = cost(command, self._env).metrics()
        if counted:
            self._samples.add(work, _WHERE, name, metrics)


def run(_build: Path, quick: bool, samples: Samples, failures: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="mf-bench-") as folder:
        try:
            _compilers(Path(folder), 5 if quick else 21, samples)
            _results(Path(folder), 1 if quick else 3, samples)
            _say("g++ on the stubs of a service")
            stubs.measure(Path(folder), _CXX, 1 if quick else 3, samples)
        except BenchError as error:
            failures.append(str(error))


def _with_grpc(peer: Peer) -> Peer:
    """protoc with the C++ stubs of services, which mfidlc always writes."""
    plugin = shutil.which("grpc_cpp_plugin")
    if peer.program != "protoc" or plugin is None:
        return peer
    more = (f"--plugin=protoc-gen-grpc={plugin}", "--grpc_out={out}")
    return replace(peer, name=f"{peer.name} & grpc", arguments=(*peer.arguments, *more))


def _compilers(folder: Path, rounds: int, samples: Samples) -> None:
    (folder / "5000").mkdir()
    bench = _Bench(folder / "5000", 5000, samples)
    (folder / "services").mkdir()
    services = _Bench(folder / "services", 5000, samples, schema.SERVICES)
    many = [_with_grpc(peer) for peer in services.peers if peer.name.startswith(("mf/", "protoc/"))]
    for number in range(rounds + 1):  # the first warms the caches of the machine, and of Python
        _say(f"compilers: round {number} of {rounds}")
        for peer in bench.peers:
            bench.cold("compile_5000", peer, number > 0)
            if peer.name in ("mf/c++ & python", "protoc/c++ & python"):
                bench.again(peer, number > 0)
                bench.version(peer, number > 0)
        for peer in many:
            services.cold("compile_services", peer, number > 0)


def _results(folder: Path, rounds: int, samples: Samples) -> None:
    """What g++ needs for the generated code: for every file that includes the types, and once for the
    sources."""
    small = folder / "1000"
    small.mkdir()
    whole = _Bench(folder / "5000", 5000, samples)
    part = _Bench(small, 1000, samples)
    for peer in part.peers:
        part.cold("compile_1000", peer, False)
    for number in range(rounds):
        _say(f"g++ on the results: round {number + 1} of {rounds}")
        for peer in (peer for peer in whole.peers if peer.header):
            whole.cxx(
                "include_5000", peer, peer.header, ["-fsyntax-only", "-w"], f"{peer.name} {peer.header}"
            )
            for level in ("-O0", "-O2"):
                options = [level, "-w", "-c", "-o", os.devnull]
                part.cxx("object_1000", peer, peer.source, options, f"{peer.name} {level}")


def _say(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)
