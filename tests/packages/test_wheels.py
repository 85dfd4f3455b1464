"""The wheels: a whole system comes of them, where there is neither a compiler of C++ nor this tree."""

import os
import re
import subprocess
import sys
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
    environment.run("pip", "install", "-q", "mfidl", "mf-runtime", "mfidl-tools", "mf-controller")
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


def tag_of(python: str) -> str:
    return run(python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip()


@pytest.mark.timeout(300)
def test_each_python_of_this_machine_has_a_wheel_of_the_native_codec_that_reads_values(
    tmp_path: Path, wheels: dict[str, Path]
) -> None:
    read = "mf.from_bytes(list[str], mf.to_bytes(['a'], list[str]))"
    program = f"import mf, mf.native; print({read}, mf.native.why())"
    pythons = run(str(ROOT / "tools/pythons")).split()

    assert pythons
    for python in pythons:
        tag = tag_of(python)
        [native] = DIST.glob(f"mf_runtime_native-*-{tag}-{tag}-*.whl")
        folder = tmp_path / tag
        run(python, "-m", "venv", str(folder))
        pip = (str(folder / "bin/pip"), "--disable-pip-version-check", "install", "-q", "--no-index")
        run(*pip, str(wheels["mf-runtime"]), str(native))
        said = run(str(folder / "bin/python"), "-c", program, env={"HOME": str(tmp_path)})
        assert re.match(r"\['a'\] The native codec \S+ is in use, from ", said)


@pytest.mark.timeout(300)
def test_a_project_that_init_has_written_installs_and_passes_its_test(
    tmp_path: Path, environment: Environment
) -> None:
    environment.run("pip", "install", "-q", "mfidl")
    environment.run("mfidlc", "init", "warehouse", "--python", cwd=tmp_path)

    environment.run("pip", "install", "-q", ".[test]", cwd=tmp_path / "warehouse")
    assert "2 passed" in environment.run("pytest", "-q", "python", cwd=tmp_path / "warehouse")


MACHINES = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("program", ["mf-controller", "mf-relay", "mf-bridge"])
def test_the_programs_need_nothing_but_glibc_and_hold_no_symbols(
    tmp_path: Path, program: str, machine: str
) -> None:
    [path] = DIST.glob(f"mf_controller-*_{machine}.whl")
    with zipfile.ZipFile(path) as wheel:
        [name] = [each for each in wheel.namelist() if each.endswith(f"/scripts/{program}")]
        binary = Path(wheel.extract(name, tmp_path))

    said = run("readelf", "--dynamic", "--file-header", "--section-headers", "--wide", str(binary))
    assert re.search(rf"Machine: .*{machine.replace('_', '.')}", said, re.IGNORECASE)
    assert set(re.findall(r"NEEDED.*\[(.*)\]", said)) <= {"libc.so.6", "libm.so.6", MACHINES[machine]}
    assert ".symtab" not in said


@pytest.mark.parametrize(
    "pattern", ["mf_controller-*_x86_64.whl", "mf_controller-*_aarch64.whl", "mf_runtime_native-*.whl"]
)
def test_the_tag_of_what_is_compiled_is_the_one_that_auditwheel_sees(pattern: str) -> None:
    [wheel] = DIST.glob(pattern)
    said = " ".join(run("auditwheel", "show", str(wheel)).split())

    tag = wheel.stem.split("-")[-1]
    assert re.fullmatch(r"manylinux_2_\d+_(x86_64|aarch64)", tag)
    assert f'is consistent with the following platform tag: "{tag}"' in said


def test_each_wheel_carries_its_licences(wheels: dict[str, Path]) -> None:
    for path in wheels.values():
        wheel = zipfile.ZipFile(path)
        [name] = [each for each in wheel.namelist() if each.endswith("/licenses/LICENSE")]
        assert wheel.read(name) == (ROOT / "LICENSE").read_bytes(), path
    names = zipfile.ZipFile(wheels["mf-controller"]).namelist()
    assert any(name.endswith("/licenses/NOTICE") for name in names)


@pytest.mark.timeout(1500)  # the programs are compiled, if ccache does not know them
@pytest.mark.parametrize("name", ["mfidl", "mf_runtime", "mfidl_tools", "mf_controller"])
def test_a_source_distribution_builds_the_same_wheel(
    tmp_path: Path, wheels: dict[str, Path], name: str
) -> None:
    [archive] = DIST.glob(f"{name}-*.tar.gz")
    wheel = wheels[name.replace("_", "-")]
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


@pytest.mark.timeout(600)  # it is compiled
def test_the_native_codec_is_built_where_there_is_no_wheel_of_it(environment: Environment) -> None:
    environment.run("pip", "install", "-q", "--no-binary", "mf-runtime-native", "mf-runtime-native")

    program = "import mf, mf.native; mf.to_bytes(['a'], list[str]); print(mf.native.why())"
    assert " is in use, from " in environment.run("python", "-c", program)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"CXX": "c++-77"},
            "MF/IDL needs a compiler of C++20, and there is none (c++-77): apt-get install g++",
        ),
        (
            {"CMAKE_ARGS": "-DCMAKE_DISABLE_FIND_PACKAGE_Python=ON"},
            "MF/IDL needs the headers of Python, which was not found: apt-get install python3-dev",
        ),
    ],
)
def test_what_the_native_codec_needs_to_be_built_is_one_sentence(
    tmp_path: Path, given: dict[str, str], sentence: str
) -> None:
    [archive] = DIST.glob("mf_runtime_native-*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]

    done = subprocess.run(
        [*pip, str(archive)],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode != 0
    assert sentence in " ".join(done.stderr.split() + done.stdout.split())


def refused_by_pip(*arguments: str) -> str:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-index"]
    done = subprocess.run([*pip, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    return done.stderr


def test_pip_refuses_a_wheel_for_another_python_or_machine(tmp_path: Path, wheels: dict[str, Path]) -> None:
    into = ["-d", str(tmp_path), "--find-links", str(DIST)]
    old = refused_by_pip(*into, "--python-version", "3.10", "--only-binary", ":all:", "mf-runtime")
    assert "Package 'mf-runtime' requires a different Python: 3.10.0 not in '>=3.11'" in old

    [arm] = DIST.glob("mf_controller-*_aarch64.whl")
    assert wheels["mf-controller"] != arm
    assert f"{arm.name} is not a supported wheel on this platform" in refused_by_pip(*into, str(arm))


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
