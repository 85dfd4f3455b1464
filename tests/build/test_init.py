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
    return run(command, {**os.environ, "PYTHONPATH": str(ROOT)}, folder)


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
    installed = tmp_path / "site"
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "-q"]
    pip = [sys.executable, "-m", "pip", "install", *options, "--target", str(installed), str(folder)]
    done = run(pip, dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr

    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(installed), str(ROOT / "runtime/python")))}
    built, scripts = folder / "build", folder / "python"
    servers = {
        "C++": [str(built / "server")],
        "Python": [sys.executable, str(scripts / "server.py")],
    }
    clients = [[str(built / "client")], [sys.executable, str(scripts / "client.py")]]
    for server, command in servers.items():
        with serving(command, env) as address:
            for client in clients:
                greeted = run([*client, "Ada", address], env)
                assert greeted.stdout == f"Hello, Ada, from {server}! Visit 1.\n", greeted.stderr
                refused = run([*client, "nobody", address], env)
                assert (refused.stderr, refused.returncode) == ("not welcome: nobody is nobody\n", 1)


@pytest.mark.parametrize(("language", "others"), [("cpp", "python/"), ("python", "cpp/")])
def test_one_language_gives_no_file_of_the_other(tmp_path: Path, language: str, others: str) -> None:
    assert init(tmp_path, "shop", "--lang", language).returncode == 0

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
    (tmp_path / "README.md").write_text("mine")
    said = init(tmp_path, ".", "--name", "shop")

    assert said.returncode == 3
    assert "README.md already" in said.stderr
    assert files(tmp_path) == {"README.md"}
    assert (tmp_path / "README.md").read_text() == "mine"


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
