"""What a machine lacks is one sentence with the command that mends it, and not a page of another program's."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT, Cmake

CONSUMER = Path(__file__).parent / "consumer"
OPENSSL = "-DOPENSSL_INCLUDE_DIR=/usr/include"


def said(*command: str, env: dict[str, str] | None = None) -> str:
    """The words of a command that must fail, as one line."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode != 0, done.stdout
    return " ".join((done.stdout + done.stderr).split())


def configured(folder: Path, *options: str, env: dict[str, str] | None = None) -> str:
    product = ("-DMF_PRODUCT_ONLY=ON", "-DCMAKE_BUILD_TYPE=Release")
    return said(
        "/usr/bin/cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder), *product, *options, env=env
    )


def tools(folder: Path) -> dict[str, str]:
    """An environment in which there are CMake and Ninja, and no compiler."""
    folder.mkdir()
    for name in ("cmake", "ninja"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return {"PATH": str(folder)}


def test_no_compiler(tmp_path: Path) -> None:
    none = configured(tmp_path / "build", env=tools(tmp_path / "bin"))
    assert (
        "MF/IDL needs a compiler of C++20, and there is none (c++, g++, clang++): apt-get install g++" in none
    )
    assert "CMAKE_CXX_COMPILER" not in none

    chain = tmp_path / "chain.cmake"
    chain.write_text('message(FATAL_ERROR "the toolchain was asked")\n')
    asked = configured(tmp_path / "chain", f"-DCMAKE_TOOLCHAIN_FILE={chain}", env=tools(tmp_path / "more"))
    assert "the toolchain was asked" in asked

    other = configured(tmp_path / "other", env={**os.environ, "CXX": "clang++-77 -m64"})
    assert "there is none (clang++-77): apt-get install g++" in other


def test_a_cmake_that_is_too_old(tmp_path: Path) -> None:
    old = "cmake_minimum_required(VERSION 3.16)\nset(CMAKE_VERSION 3.18.4)\n"
    (tmp_path / "CMakeLists.txt").write_text(f'{old}include("{ROOT}/CMakeLists.txt")\n')

    refused = said("cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"))
    assert (
        "MF/IDL needs CMake 3.25 or newer, and this is 3.18.4: pip install 'cmake>=3.25' Call Stack" in refused
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["-DCMAKE_IGNORE_PATH=/usr/include"],
            "MF/IDL needs OpenSSL 3 with its headers, which was not found: apt-get install libssl-dev",
        ),
        (  # another Boost may be there: 1.74 does not have what is looked for
            ["-DCMAKE_IGNORE_PATH=/usr/include", OPENSSL],
            "MF/IDL needs Boost 1.81 or newer, which was not found: apt-get install libboost1.81-dev",
        ),
        (
            ["-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"],
            "MF/IDL needs CLI11, which was not found: apt-get install libcli11-dev",
        ),
    ],
)
def test_a_library_is_missing(tmp_path: Path, options: list[str], sentence: str) -> None:
    assert sentence in configured(tmp_path, *options)


def test_an_older_boost_that_comes_first(tmp_path: Path) -> None:
    (tmp_path / "boost").mkdir()
    (tmp_path / "boost/version.hpp").write_text("#define BOOST_VERSION 107400\n")
    for source in (ROOT / "runtime/cpp/include/mf/client/asio.hpp", ROOT / "cmake/asio.cpp"):
        include = f"-I{ROOT}/runtime/cpp/include"
        refused = said(
            "g++", "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{tmp_path}", include, str(source)
        )
        assert "needs Boost 1.81 or newer, and an older one is found first: " in refused


@pytest.fixture
def own_prefix(tmp_path: Path, prefix: Path) -> Path:
    """A copy of the installed tree, for a test that damages it."""
    return Path(shutil.copytree(prefix, tmp_path / "prefix", symlinks=True))


def refused_consumer(folder: Path, prefix: Path, cmake: type[Cmake], before: str = "", *options: str) -> str:
    source = Path(shutil.copytree(CONSUMER, folder / "consumer"))
    text = (source / "CMakeLists.txt").read_text()
    (source / "CMakeLists.txt").write_text(text.replace("find_package(", f"{before}\nfind_package(", 1))
    with pytest.raises(AssertionError) as failure:
        cmake(source, prefix, "Ninja", *options)
    return " ".join(str(failure.value).split())


@pytest.mark.parametrize("part", ["lib/libmf_runtime.a", "lib/cmake/mfidl/mfidl_step.cmake", "include/mf"])
def test_an_installed_tree_from_which_a_part_was_removed(
    tmp_path: Path, own_prefix: Path, cmake: type[Cmake], part: str
) -> None:
    (own_prefix / part).rename(tmp_path / "removed")

    refused = refused_consumer(tmp_path, own_prefix, cmake)
    assert f"mfidl is installed in part only, without {own_prefix}/{part}: install it again" in refused


def test_a_project_with_an_old_cmake_or_without_openssl(
    tmp_path: Path, prefix: Path, cmake: type[Cmake]
) -> None:
    old = refused_consumer(tmp_path / "old", prefix, cmake, "set(CMAKE_VERSION 3.18.4)")
    assert "mfidl needs CMake 3.25 or newer, and this is 3.18.4: pip install 'cmake>=3.25'" in old

    without = refused_consumer(
        tmp_path / "without", prefix, cmake, "", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON"
    )
    assert (
        "components client and server need OpenSSL 3 with its headers: apt-get install libssl-dev" in without
    )


def test_a_project_without_the_compiler(
    tmp_path: Path, own_prefix: Path, cmake: type[Cmake], monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_prefix / "bin/mfidlc").unlink()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    options = ("-DMFIDLC=MFIDLC-NOTFOUND", "-DPython3_EXECUTABLE=/bin/false")

    refused = refused_consumer(tmp_path, own_prefix, cmake, "", *options)
    assert "mfidlc was not found. Install it (pip install mfidl) or set MFIDLC to its path" in refused


def install(prefix: Path) -> str:
    build = os.environ.get("MF_BUILD_DIR", str(ROOT / "build/release"))
    return said("cmake", "--install", build, "--prefix", str(prefix))


def test_another_version_in_the_prefix(own_prefix: Path) -> None:
    version = own_prefix / "lib/cmake/mfidl/mfidlConfigVersion.cmake"
    version.write_text(version.read_text().replace("0.1.0", "0.0.9"))
    (own_prefix / "bin/mfidlc").unlink()

    sentence = f"{own_prefix} has MF/IDL 0.0.9, whose files would stay among those of 0.1.0: rm -r '{own_prefix}/include/mf'"
    assert sentence in install(own_prefix)
    assert not (own_prefix / "bin/mfidlc").exists()


def test_a_prefix_that_cannot_be_written() -> None:
    refused = install(Path("/proc/mfidl"))  # not even by root

    assert "MF/IDL cannot be installed in /proc/mfidl, which cannot be written: run this command with sudo" in refused


def test_an_installed_mfidlc_without_one_of_its_packages(own_prefix: Path) -> None:
    text = (ROOT / "cmake/compiler.cmake").read_text()
    (named,) = re.findall(r"set\(MF_COMPILER_PACKAGES (.*)\)", text)
    packages = own_prefix / "lib/mfidl"
    for name in [*named.replace(".", "/").split(), "mf", "mfidl/templates", "mfidl"]:
        (packages / name).rename(packages / "away")
        refused = said("python3", str(own_prefix / "bin/mfidlc"), "--version")
        (packages / "away").rename(packages / name)

        assert f"mfidlc: it is installed in part only, without {packages}/{name}: install it again" in refused
        assert "(cmake --install, or apt-get install --reinstall mfidlc)" in refused


def test_a_python_that_is_too_old_for_mfidlc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 12))
    monkeypatch.setattr(sys, "version", "3.10.12 (main)")

    with pytest.raises(SystemExit) as refused:
        runpy.run_path(str(ROOT / "cmake/mfidlc.py"))
    assert str(refused.value).startswith(
        "mfidlc: this is Python 3.10.12, and mfidlc needs 3.11 or newer: install it (Debian 12: apt-get install python3)"
    )
