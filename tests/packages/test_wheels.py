"""The wheels: a whole system comes of them, where there is neither a compiler of C++ nor this tree."""

import re
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import DIST, ROOT, Environment, run

SCHEMA = "module hello;\n\nservice Hello {\n  @idempotent greet(name: string) -> string;\n}\n"
SERVER = """\
import sys
import mf
from hello import HelloServant

class Hello(HelloServant):
    def greet(self, name: str) -> str:
        return f"Hello, {name}!"

server = mf.Server("tcp://127.0.0.1:0", controller=sys.argv[1])
server.offer(Hello())
server.start()
print(server.address, flush=True)
server.run()
"""
CLIENT = """\
import sys
import mf
from hello import HelloClient

with mf.Client(sys.argv[1]) as client:
    print(HelloClient(client).greet("Ada", options=mf.CallOptions(deadline=30.0)))
"""


@contextmanager
def running(environment: Environment, *command: str) -> Iterator[str]:
    """A program that prints its address, and is stopped as a service is."""
    process = environment.start(*command)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.timeout(300)
def test_a_service_and_its_controller_run_from_wheels_alone(tmp_path: Path, environment: Environment) -> None:
    environment.run("pip", "install", "-q", "mfidl", "mf-runtime", "mf-tools", "mf-controller")
    (tmp_path / "hello.mfidl").write_text(SCHEMA)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    environment.run("mfidlc", "compile", "--python", ".", "hello.mfidl", cwd=tmp_path)

    controller = ["mf-controller", "--listen", "tcp://127.0.0.1:0"]
    with (
        running(environment, *controller) as where,
        running(environment, "python", str(tmp_path / "server.py"), where),
    ):
        assert where.startswith("mf://127.0.0.1:")
        assert environment.run("python", str(tmp_path / "client.py"), where) == "Hello, Ada!\n"
        greeting = ("mf", "call", "hello.Hello.greet", '{"name": "Bo"}', "--where", where)
        assert environment.run(*greeting) == '"Hello, Bo!"\n'


@pytest.mark.timeout(300)
def test_the_native_codec_is_used_where_its_wheel_is_installed(environment: Environment) -> None:
    program = "import mf, mf.native; mf.to_bytes(['a'], list[str]); print(mf.native.why())"

    environment.run("pip", "install", "-q", "mf-runtime")
    without = environment.run("python", "-c", program)
    environment.run("pip", "install", "-q", "mf-runtime-native")
    installed = environment.run("python", "-c", program)

    assert without.startswith("The native codec is not installed: ")
    assert installed.startswith("The native codec ")
    assert " is in use, from " in installed


@pytest.mark.timeout(300)
def test_a_project_that_init_has_written_installs_and_passes_its_test(
    tmp_path: Path, environment: Environment
) -> None:
    environment.run("pip", "install", "-q", "mfidl")
    environment.run("mfidlc", "init", "warehouse", "--python", cwd=tmp_path)

    environment.run("pip", "install", "-q", ".[test]", cwd=tmp_path / "warehouse")
    assert "2 passed" in environment.run("pytest", "-q", "python", cwd=tmp_path / "warehouse")


@pytest.mark.parametrize("program", ["mf-controller", "mf-relay", "mf-bridge"])
def test_the_programs_need_nothing_but_glibc_and_hold_no_symbols(
    tmp_path: Path, wheels: dict[str, Path], program: str
) -> None:
    with zipfile.ZipFile(wheels["mf-controller"]) as wheel:
        [name] = [each for each in wheel.namelist() if each.endswith(f"/scripts/{program}")]
        binary = Path(wheel.extract(name, tmp_path))

    said = run("readelf", "--dynamic", "--section-headers", "--wide", str(binary))
    assert set(re.findall(r"NEEDED.*\[(.*)\]", said)) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    assert ".symtab" not in said


@pytest.mark.parametrize("name", ["mf-controller", "mf-runtime-native"])
def test_the_tag_of_what_is_compiled_is_the_one_that_auditwheel_sees(
    wheels: dict[str, Path], name: str
) -> None:
    said = " ".join(run("auditwheel", "show", str(wheels[name])).split())

    tag = wheels[name].stem.split("-")[-1]
    assert re.fullmatch(r"manylinux_2_\d+_x86_64", tag)
    assert f'is consistent with the following platform tag: "{tag}"' in said


def test_each_wheel_carries_its_licences(wheels: dict[str, Path]) -> None:
    for path in wheels.values():
        wheel = zipfile.ZipFile(path)
        [name] = [each for each in wheel.namelist() if each.endswith("/licenses/LICENSE")]
        assert wheel.read(name) == (ROOT / "LICENSE").read_bytes(), path
    names = zipfile.ZipFile(wheels["mf-controller"]).namelist()
    assert any(name.endswith("/licenses/NOTICE") for name in names)


@pytest.mark.timeout(1500)  # the programs are compiled, if ccache does not know them
@pytest.mark.parametrize("name", ["mfidl", "mf_runtime", "mf_tools", "mf_controller"])
def test_a_source_distribution_builds_the_same_wheel(tmp_path: Path, name: str) -> None:
    [archive] = DIST.glob(f"{name}-*.tar.gz")
    [wheel] = DIST.glob(f"{name}-*.whl")
    folder = unpacked(archive, tmp_path)

    run("python", "-m", "hatchling", "build", "-t", "wheel", "-d", "made", cwd=folder, timeout=1400)
    [made] = (folder / "made").glob("*.whl")
    assert made.name == wheel.name
    assert contents(made) == contents(wheel)


def unpacked(archive: Path, folder: Path) -> Path:
    run("tar", "-xzf", str(archive), "-C", str(folder))
    [found] = folder.iterdir()
    return found


def contents(wheel: Path) -> dict[str, int]:
    """The size of each file, but of the list of digests."""
    return {
        each.filename: each.file_size
        for each in zipfile.ZipFile(wheel).infolist()
        if not each.filename.endswith("/RECORD")
    }


def test_no_compiler_is_one_sentence(tmp_path: Path) -> None:
    [archive] = DIST.glob("mf_controller-*.tar.gz")
    folder = unpacked(archive, tmp_path)
    python = ROOT / ".venv/bin/python"

    done = subprocess.run(
        [python, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=folder,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    needs = (
        "cmake was not found; building from source needs CMake 3.25 or newer (Debian: apt-get install cmake)"
    )
    assert needs in " ".join(done.stderr.split() + done.stdout.split())
