"""mfidlc init: what it writes builds, runs and talks across languages, as its README says."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.check_pages import check_page

from .conftest import ROOT, Cmake


def run(command: list[str], env: dict[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=100, check=False)


def init(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mfidl", "init", *arguments]
    return run(command, our_env(), folder)


def our_env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def indented(lines: str) -> str:
    return "".join(f"  {line}\n" for line in lines.splitlines())


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@contextmanager
def serving(command: list[str], env: dict[str, str]) -> Iterator[str]:
    server = subprocess.Popen([*command, "tcp://127.0.0.1:0"], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        try:
            assert server.wait(timeout=10) == 0
        finally:
            server.kill()
            server.communicate()


def installed(project: Path, site: Path) -> dict[str, str]:
    """The environment of programs that use the project's Python packages, which pip has installed."""
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "-q"]
    pip = [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(project)]
    done = run(pip, {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "runtime/python")))})
    assert done.returncode == 0, done.stdout + done.stderr
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT / "runtime/python")))}


def pytest_passes(folder: Path, env: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "python"]
    tested = run(command, env, folder)
    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr


@pytest.mark.timeout(300)
def test_a_new_project_builds_and_talks_across_languages(
    tmp_path: Path, prefix: Path, cmake: type[Cmake]
) -> None:
    said = init(tmp_path, "My-Shop")
    assert said.returncode == 0, said.stderr
    folder = tmp_path / "My-Shop"
    assert "schema/my_shop.mfidl" in files(folder)
    assert all(f"  {name}\n" in said.stdout for name in files(folder))

    cmake(folder, prefix, "Ninja").build()
    env = installed(folder, tmp_path / "site")
    tested = run(["ctest", "--test-dir", str(folder / "build")], env)
    assert "100% tests passed, 0 tests failed out of 1" in tested.stdout, tested.stdout + tested.stderr
    pytest_passes(folder, env)

    built, scripts = folder / "build", folder / "python"
    servers = {
        "C++": [str(built / "my_shop_server")],
        "Python": [sys.executable, str(scripts / "server.py")],
    }
    clients = [[str(built / "my_shop_client")], [sys.executable, str(scripts / "client.py")]]
    for server, command in servers.items():
        with serving(command, env) as address:
            for client in clients:
                greeted = run([*client, "Ada", address], env)
                assert greeted.stdout == f"Hello, Ada, from {server}! Visit 1.\n", greeted.stderr
                refused = run([*client, "nobody", address], env)
                assert (refused.stderr, refused.returncode) == ("not welcome: nobody is nobody\n", 1)


@pytest.mark.timeout(300)
def test_a_project_of_cmake_gets_all_but_its_own_files(
    tmp_path: Path, prefix: Path, cmake: type[Cmake]
) -> None:
    own = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(old CXX)\nadd_executable(old main.cpp)\n",
        "main.cpp": "int main() {}\n",
        "README.md": "mine\n",
        ".gitignore": "*.o\n",
    }
    for path, text in own.items():
        (tmp_path / path).write_text(text)
    said = init(tmp_path, ".", "--name", "shop", "--cpp")

    assert said.returncode == 0, said.stderr
    assert {path: (tmp_path / path).read_text() for path in own} == own
    assert "schema/README.md" in files(tmp_path)
    added = "enable_testing()\ninclude(cmake/shop.cmake)\n"
    assert f"Add to CMakeLists.txt:\n{indented(added)}" in said.stdout
    assert "Add to .gitignore:\n  /build/\n" in said.stdout

    with (tmp_path / "CMakeLists.txt").open("a") as stream:
        stream.write(added)
    cmake(tmp_path, prefix, "Unix Makefiles").build()
    tested = run(["ctest", "--test-dir", str(tmp_path / "build")], dict(os.environ))
    assert "100% tests passed, 0 tests failed out of 1" in tested.stdout, tested.stdout + tested.stderr


HATCH = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "old"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["src/old"]
"""
SETUPTOOLS = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "old"
version = "1"
"""


@pytest.mark.parametrize("backend", [HATCH, SETUPTOOLS])
def test_a_project_of_python_gets_all_but_its_own_files(tmp_path: Path, backend: str) -> None:
    folder = tmp_path / "project"
    (folder / "src/old").mkdir(parents=True)
    (folder / "src/old/__init__.py").touch()
    (folder / "pyproject.toml").write_text(backend)
    said = init(folder, ".", "--name", "shop", "--python")

    assert said.returncode == 0, said.stderr
    assert (folder / "pyproject.toml").read_text() == backend
    settings = '[tool.pytest.ini_options]\npythonpath = ["python"]\n'
    if backend is HATCH:
        settings = '[tool.hatch.build.hooks.mfidl]\nfiles = ["schema/shop.mfidl"]\n' + settings
    else:
        generate = "mfidlc compile --python src schema/shop.mfidl"
        assert f"after each edit of the schema:\n  {generate}\n" in said.stdout
        assert (
            run(
                [sys.executable, "-m", *generate.replace("mfidlc", "mfidl").split()], our_env(), folder
            ).returncode
            == 0
        )
    assert indented(settings) in said.stdout
    with (folder / "pyproject.toml").open("a") as stream:
        stream.write(settings)

    pytest_passes(folder, installed(folder, tmp_path / "site"))


@pytest.mark.parametrize(("language", "others"), [("cpp", "python/"), ("python", "cpp/")])
def test_one_language_gives_no_file_of_the_other(tmp_path: Path, language: str, others: str) -> None:
    assert init(tmp_path, "shop", f"--{language}").returncode == 0

    made = files(tmp_path / "shop")
    assert {"README.md", "schema/shop.mfidl", ".gitignore"} <= made
    assert list(check_page((tmp_path / "shop/README.md").read_text(), languages=True)) == []
    assert not any(name.startswith(others) for name in made)
    assert ("CMakeLists.txt" in made) == (language == "cpp")
    assert ("pyproject.toml" in made) == (language == "python")


def test_the_current_folder_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/mine.txt").touch()
    said = init(tmp_path / "shop")

    assert said.returncode == 0
    assert "cd " not in said.stdout
    assert {"mine.txt", "schema/shop.mfidl"} <= files(tmp_path / "shop")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "cpp").mkdir()
    (tmp_path / "cpp/server.cpp").write_text("mine")
    said = init(tmp_path, ".", "--name", "shop")

    assert said.returncode == 3
    assert "cpp/server.cpp already" in said.stderr
    assert files(tmp_path) == {"cpp/server.cpp"}
    assert (tmp_path / "cpp/server.cpp").read_text() == "mine"


def test_what_cannot_be_written_whole_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "cpp").touch()
    said = init(tmp_path, ".", "--name", "shop")

    assert said.returncode == 3
    assert "cannot write" in said.stderr
    assert files(tmp_path) == {"cpp"}
    assert not (tmp_path / "schema").exists()


@pytest.mark.parametrize("name", ["types", "class", "mf", "Shop", "2nd", "a-b", "server", "int", "a__b", ""])
def test_a_name_that_cannot_be_a_module_is_refused(tmp_path: Path, name: str) -> None:
    said = init(tmp_path, "folder", "--name", name)

    assert said.returncode == 2
    assert "Give another --name" in said.stderr
    assert files(tmp_path) == set()
