"""What `mfidlc check` accepts, every other command accepts: each sentence is one that did not."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from mfidl import dynamic
from mfidl.cli.group import cli
from mfidl.compiler import check
from mfidl.descriptor.formats import formatted
from mfidl.descriptor.read import from_bytes
from mfidl.descriptor.write import to_message
from tests.random_schemas.made import Made

ROOT = Path(__file__).resolve().parents[2]


def refusals(made: Made) -> list[str]:
    found: list[str] = []
    for each in (_ran, _described, _formatted, _protoc, _vectors):
        found += each(made)
    return found


def _run(*arguments: str, codes: tuple[int, ...] = (0,)) -> tuple[str, list[str]]:
    """Standard output, and what is wrong."""
    done = CliRunner().invoke(cli, list(arguments))
    shown = " ".join(arguments)
    if done.exit_code not in codes or "internal error" in done.output:
        return done.stdout, [f"mfidlc {shown}: exit code {done.exit_code}\n{done.output[-3000:]}"]
    return done.stdout, []


def _ran(made: Made) -> Iterator[str]:
    files = [str(each) for each in made.files]
    path = ["-I", str(made.folder)]
    yield from _run("check", *files, *path)[1]
    yield from _run("lint", *files, *path, codes=(0, 1))[1]
    yield from _run("lint", "--enable", "all", *files, *path, codes=(0, 1))[1]
    yield from _run("breaking", *files, *path, "--against", str(made.folder))[1]
    yield from _run("doc", *files, *path, "--out", str(made.folder / "doc"))[1]
    for file in files:
        yield from _run("explain", file, *path)[1]
        text, wrong = _run("explain", file, *path, "--json")
        yield from wrong
        if not wrong:
            json.loads(text)


def _described(made: Made) -> Iterator[str]:
    """The descriptor is the program: it comes back whole, with the places in its files."""
    sources = {}
    for source in check([str(each) for each in made.files], [str(made.folder)]).sources:
        named = re.search(r"^module (.+);$", source.text, re.MULTILINE)
        assert named is not None
        sources[named[1]] = source
    message = to_message(made.program)
    if to_message(from_bytes(formatted(message, "binary"), sources)) != message:
        yield f"{made.files[0]}: the descriptor does not come back from its program"
    for form in ("json", "text"):
        formatted(message, form)


def _formatted(made: Made) -> Iterator[str]:
    """Formatting changes no meaning, and nothing the second time."""
    folder = made.folder / "formatted"
    copies = []
    for file in made.files:
        copy = folder / file.relative_to(made.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
        copies.append(str(copy))
    yield from _run("fmt", *copies)[1]
    yield from _run("fmt", "--check", *copies)[1]
    outcome = check(copies, [str(folder)])
    if outcome.program is None:
        yield f"{copies}: not accepted once it is formatted: {outcome.diagnostics[0].message}"
    elif [each.fingerprint for module in outcome.program.modules for each in module.services] != [
        each.fingerprint for module in made.program.modules for each in module.services
    ]:
        yield f"{copies}: formatting has changed a fingerprint"
    yield from _run(
        "breaking", *copies, "-I", str(folder), "--against", str(made.files[0].parent), codes=(0,)
    )[1]


def _protoc(made: Made) -> Iterator[str]:
    out = made.folder / "proto"
    wrong = _run("proto", *map(str, made.files), "-I", str(made.folder), "--out", str(out))[1]
    yield from wrong
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.proto"))
    if wrong or not files:
        return
    done = subprocess.run(
        ["protoc", "--python_out=.", *files], cwd=out, capture_output=True, text=True, check=False
    )
    if done.returncode:
        yield f"protoc {files}: {done.stderr}"
        return
    load = "import sys, importlib\nfor each in sys.argv[1:]: importlib.import_module(each)"
    modules = [
        path.relative_to(out).with_suffix("").as_posix().replace("/", ".") for path in out.rglob("*_pb2.py")
    ]
    loaded = subprocess.run(
        [sys.executable, "-c", load, *modules], cwd=out, capture_output=True, text=True, check=False
    )
    if loaded.returncode:
        yield f"python's protobuf, {files}: {loaded.stderr[-1500:]}"


def _vectors(made: Made) -> Iterator[str]:
    """`vectors`, and what `encode`, `decode` and `annotate` make of its first line."""
    schema = dynamic.Schema(made.program)
    for file in made.files:
        text, wrong = _run("vectors", str(file), "-I", str(made.folder), "--count", "1")
        yield from wrong
        for line in text.splitlines()[::7] if not wrong else []:
            vector = json.loads(line)
            data = bytes.fromhex(vector["hex"])
            annotated = dynamic.annotate(schema, vector["type"], data)
            if annotated.error is not None or b"".join(e.data for e in annotated.annotations) != data:
                yield f"annotate {vector['type']} {vector['hex']}: {annotated.error}"


def mypy_of(made: Made, cache: Path) -> list[str]:
    """What mypy --strict has to say of the generated Python."""
    options = ("--strict", "--no-error-summary", "--cache-dir", str(cache), "--config-file", os.devnull)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--explicit-package-bases", "."],
        cwd=made.python,
        env={**os.environ, "MYPYPATH": f"{ROOT / 'runtime/python'}:{ROOT}:."},
        capture_output=True,
        text=True,
        check=False,
    )
    return [f"mypy: {done.stdout}{done.stderr}"] if done.returncode else []
