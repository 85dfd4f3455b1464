"""mfidl_generate(): a project built by CMake follows its schemas, and a mistake in one reaches the person."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
add_library(mf_core INTERFACE)
add_library(mf::core ALIAS mf_core)
target_include_directories(mf_core INTERFACE "{root}/runtime/cpp/include")
target_link_libraries(mf_core INTERFACE "{build}/libmf_core.a")
include("{root}/cmake/mfidl.cmake")
mfidl_generate(TARGET shop_idl FILES shop/order.mfidl shop/item.mfidl IMPORT_PATHS . LINK mf::core)
add_executable(shop main.cpp)
target_link_libraries(shop PRIVATE shop_idl)
"""

MAIN = """\
#include <cstdio>
#include "shop/order.hpp"
int main() { std::printf("%u\\n", static_cast<unsigned>(shop::order::LIMIT)); }
"""

ORDER = """\
module shop.order;
import "shop/item.mfidl";
const LIMIT: u32 = 7;
struct Order { items: list<shop.item.Item>; }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    build = os.environ.get("MF_BUILD_DIR", ROOT / "build" / "release")
    (tmp_path / "shop").mkdir()
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, build=build), encoding="ascii")
    (tmp_path / "main.cpp").write_text(MAIN, encoding="ascii")
    (tmp_path / "shop/order.mfidl").write_text(ORDER, encoding="ascii")
    (tmp_path / "shop/item.mfidl").write_text(
        "module shop.item;\nstruct Item { name: string; }\n", encoding="ascii"
    )
    run("cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", str(tmp_path / "build"))
    return tmp_path


def run(*command: str, status: int = 0) -> str:
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    output = result.stdout + result.stderr
    assert (result.returncode == 0) == (status == 0), output
    return output


def build(project: Path, status: int = 0) -> str:
    return run("cmake", "--build", str(project / "build"), status=status)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="ascii")
    assert old in text
    path.write_text(text.replace(old, new), encoding="ascii")


def test_a_build_follows_its_schemas(project: Path) -> None:
    build(project)
    assert run(str(project / "build/shop")) == "7\n"
    assert "no work to do" in build(project)

    edit(project / "shop/order.mfidl", "= 7", "= 8")
    build(project)
    assert run(str(project / "build/shop")) == "8\n"

    # A mistake stops the build with the compiler's own words, and mending it is enough.
    edit(project / "shop/item.mfidl", "string", "strin")
    refused = build(project, status=1)
    assert "shop/item.mfidl:2:" in refused
    assert "strin" in refused

    edit(project / "shop/item.mfidl", "strin", "string")
    build(project)
    assert "no work to do" in build(project)
