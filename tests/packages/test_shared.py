"""The product as one shared library, libmf.so: what it shows, and two plugins of one schema in a program."""

import re
from pathlib import Path

import pytest

from .conftest import ROOT, run

pytestmark = pytest.mark.timeout(1500)  # it is built

SCHEMA = """\
module desk;

struct Greeting { text: string; visits: u32; }
error Closed { why: string; }

service Desk { greet(name: string) -> Greeting throws Closed; }
"""
PLUGIN = """\
#include "desk.client.hpp"
#include "desk.server.hpp"

class Plugin final : public desk::DeskServant {
 public:
  desk::Greeting greet(const std::string& name) override {
    if (name.empty()) throw desk::Closed({.why = "NAME is away"});
    return {.text = "Hello, " + name + ", from NAME", .visits = ++visits_};
  }

 private:
  std::uint32_t visits_ = 0;
};

extern "C" mf::Servant* NAME_servant() { return new Plugin; }
extern "C" int NAME_ask(mf::Client& client, const char* name, const char* wanted) {
  try {
    return desk::DeskClient(client).greet(name).text == wanted ? 0 : 1;
  } catch (const desk::Closed& closed) {
    return closed.why == wanted ? 0 : 2;
  }
}
"""
MAIN = """\
#include <dlfcn.h>

#include <cstdio>
#include <memory>
#include <string>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"

template <class Function>
Function* found(const char* plugin, const std::string& name) {
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\\n", dlerror());
  return reinterpret_cast<Function*>(dlsym(library, name.c_str()));
}

int main(int, char** plugins) {
  mf::Server server;
  server.offer(std::shared_ptr<mf::Servant>(found<mf::Servant*()>(plugins[1], "one_servant")()));
  server.start();
  mf::Client client(server.address().str());
  using Ask = int(mf::Client&, const char*, const char*);
  auto* const one = found<Ask>(plugins[1], "one_ask");
  auto* const two = found<Ask>(plugins[2], "two_ask");
  return one(client, "Ada", "Hello, Ada, from one") + two(client, "Bob", "Hello, Bob, from one") +
         two(client, "", "one is away");
}
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(plugins CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_package(mfidl REQUIRED COMPONENTS client server)
mfidl_generate(TARGET one FILES desk.mfidl)
mfidl_generate(TARGET two FILES desk.mfidl)
foreach(name one two)
  add_library(${name}_plugin MODULE ${name}.cpp)
  target_link_libraries(${name}_plugin PRIVATE ${name})
endforeach()
add_executable(main main.cpp)
target_link_libraries(main PRIVATE mfidl::client mfidl::server)
"""
SHOWN = re.compile(r"_Z(T[ISVTHW]|Th\w+_|Tv\w+_|GV|GVZ|Z)?N?[KOR]*N?K?2mf|_ZN[KOR]*2mf|_ZThn|_ZTv")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The product, installed with its shared library."""
    build = ROOT / "build/shared"
    folder = tmp_path_factory.mktemp("shared") / "a prefix"
    run("cmake", "--preset", "install", "-B", str(build), "-DBUILD_SHARED_LIBS=ON", cwd=ROOT)
    run("cmake", "--build", str(build), "--target", "mf_shared", "mf_asio", timeout=1200)
    run("cmake", "--install", str(build), "--component", "runtime", "--prefix", str(folder))
    return folder


def test_it_shows_names_of_mf_alone_and_needs_openssl(shared: Path) -> None:
    library = shared / "lib/libmf.so"
    assert {path.name for path in library.parent.glob("libmf*")} == {
        *("libmf.so", "libmf.so.0.1", "libmf.so.0.1.0", "libmf_asio.a")
    }
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", str(library)).splitlines()]
    assert len(names) > 1000
    assert [name for name in names if not SHOWN.match(name)] == []
    needed = re.findall(r"\(NEEDED\).*\[(\w+)", run("readelf", "-d", str(library)))
    assert {"libssl", "libcrypto", "libstdc"} < set(needed)
    assert "SONAME" in run("readelf", "-d", str(library))


def test_two_plugins_of_one_schema_share_a_client_and_a_server(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "desk.mfidl").write_text(SCHEMA)
    (tmp_path / "main.cpp").write_text(MAIN)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    for name in ("one", "two"):
        (tmp_path / f"{name}.cpp").write_text(PLUGIN.replace("NAME", name))
    build = tmp_path / "build"
    found = f"-DCMAKE_PREFIX_PATH={shared}"
    run("cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", str(build), found)
    run("cmake", "--build", str(build), timeout=600)
    plugins = [str(build / f"lib{name}_plugin.so") for name in ("one", "two")]

    run(str(build / "main"), *plugins)
    for plugin in plugins:  # the runtime is not in it
        assert "mf::Server::start" not in run("nm", "-C", "--defined-only", plugin)


def test_pkg_config_names_it(shared: Path, tmp_path: Path) -> None:
    text = 'int main() { mf::Client client("tcp://127.0.0.1:1"); }'
    (tmp_path / "main.cpp").write_text(f'#include "mf/client/client.hpp"\n{text}\n')
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(shared / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "mfidl", env=environment)
    assert "-lmf " in f"{flags.strip()} "
    escaped = f"g++ -std=c++20 main.cpp -o main {flags.strip()} '-Wl,-rpath,{shared}/lib'"
    run("sh", "-c", escaped, cwd=tmp_path, timeout=300)
    run(str(tmp_path / "main"))
