"""Schemas that name everything after words of Python and of the generators: each type and method works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files

ROOT = Path(__file__).parents[2]
NAMES = ROOT / "tests/names"
RUNTIME = ROOT / "runtime/python"

# Imports everything that is public, and sends a value of every type and an empty batch of every method
# through its codec. Hidden names would show as a wrong value, a wrong type, or a NameError.
USED = """
import importlib, pathlib, sys
from mf.codec import shape
from mf.codec.codec import Codec
from mf.core.service import Method, ServiceInfo

out, count = pathlib.Path(sys.argv[1]), 0


def value_of(of):
    match of:
        case shape.Union():
            first = of.alternatives[0]
            return first.type(value_of(first.shape))
        case shape.Struct():
            return of.make(*(value_of(each.shape) for each in of.fields))
        case shape.Checked(shape=inner, rules=rules):
            for value in (value_of(inner), 1, "a", "abc", ["a"]):
                if all(rule.violation(value) is None for rule in rules):
                    return value
        case shape.Enum():
            return of.type(1) if of.open else next(iter(of.members.values()))
        case shape.Scalar(name="string"):
            return "text"
        case shape.Scalar(name="bytes"):
            return b"bytes"
        case shape.Scalar(name="bool"):
            return True
        case shape.Scalar():
            return 1
        case shape.List(element=element) | shape.Array(element=element):
            return [] if isinstance(element, shape.Union | shape.Struct) else [value_of(element)]
        case shape.Map(key=key):
            return {}
        case shape.Optional():
            return None


for init in sorted(out.rglob("_types.py")):
    package = init.parent.relative_to(out).as_posix().replace("/", ".")
    whole = importlib.import_module(package)
    exec(f"from {package} import *", {})
    assert len(whole.__all__) == len(set(whole.__all__))
    for name in whole.__all__:
        assert getattr(whole, name) is not None
    for codec in vars(importlib.import_module(f"{package}._codec")).values():
        if isinstance(codec, Codec):
            value = value_of(codec.shape)
            assert codec.decode(codec.encode(value)) == value, value
            assert repr(value)
            count += 1
    for service in list(vars(whole).values()):
        if isinstance(service, ServiceInfo):
            servants = [each for each in vars(whole).values() if getattr(each, "mf_service", None) is service]
            for method in service.methods:
                assert method.encode_requests([]) == b"" and method.decode_results(b"", 0) == []
                assert any(callable(getattr(each, method.attribute)) for each in servants)
                assert any(callable(getattr(each, method.batch_attribute)) for each in servants)
                count += 1
print(count)
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("names")
    schemas = [str(each) for each in sorted(NAMES.glob("*.mfidl"))]
    assert compile_files(schemas, [str(NAMES)], Targets(python=str(out))).exit is Exit.OK
    return out


def _run(*command: str, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{RUNTIME}:{path}", "MYPYPATH": f"{RUNTIME}:{path}"}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=110
    )


def test_every_name_can_be_used(generated: Path, tmp_path: Path) -> None:
    ran = _run("-W", "error", "-c", USED, str(generated), path=generated, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 1000


def test_mypy_finds_no_name_that_hides_another(generated: Path, tmp_path: Path) -> None:
    typed = _run(
        "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(generated), path=generated, cwd=tmp_path
    )
    assert typed.returncode == 0, typed.stdout


def test_pyright_finds_no_name_that_hides_another(generated: Path, tmp_path: Path) -> None:
    """Not in strict mode, which objects to names that begin with an underscore."""
    settings = {"include": [str(generated)], "extraPaths": [str(RUNTIME)], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    ran = _run("-m", "basedpyright", "-p", str(tmp_path), path=generated, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
