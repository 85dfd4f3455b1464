"""A plugin, or an extension of another language, links a client: all libraries are position-independent."""

import ctypes
import shutil
from pathlib import Path

import pytest

from .conftest import Cmake

HERE = Path(__file__).parent
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(plugin LANGUAGES CXX)
find_package(mfidl 0.1 REQUIRED)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
mfidl_generate(TARGET plain_types FILES schemas/plain.mfidl)
mfidl_generate(TARGET echo_stubs FILES schemas/echo.mfidl IMPORT_PATHS schemas LINK plain_types)
add_library(plugin MODULE plugin.cpp)
target_link_libraries(plugin PRIVATE echo_stubs)
"""
PLUGIN = """\
#include <chrono>

#include "echo.client.hpp"
#include "mf/client/client.hpp"

extern "C" int ask(const char* where) {
  mf::Client client(where);
  try {
    (void)echo::EchoClient(client).say({}, {.deadline = std::chrono::milliseconds(1)});
  } catch (const mf::Error& failure) {
    return static_cast<int>(failure.code());
  }
  return -1;
}
"""


@pytest.mark.timeout(300)
def test_a_shared_library_links_a_client(tmp_path: Path, prefix: Path, cmake: type[Cmake]) -> None:
    source = tmp_path / "plugin"
    shutil.copytree(HERE / "consumer/schemas", source / "schemas")
    (source / "CMakeLists.txt").write_text(CMAKE)
    (source / "plugin.cpp").write_text(PLUGIN)

    cmake(source, prefix, "Ninja").build()
    plugin = ctypes.CDLL(str(source / "build/libplugin.so"))
    assert plugin.ask(b"tcp://127.0.0.1:1") > 0


def test_each_component_has_its_licence(prefix: Path) -> None:
    licence = (HERE.parents[1] / "LICENSE").read_text()
    for component in ("libmf-dev", "mfidlc", "mf-controller"):
        assert (prefix / "share/doc" / component / "copyright").read_text() == licence
