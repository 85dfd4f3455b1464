"""Each public header compiles alone, with warnings as errors, by each supported standard and compiler."""

import re
import shutil
from pathlib import Path

import pytest

from .conftest import ROOT, run

HEADERS = sorted(set(re.findall(r"`(mf/[\w/]+\.hpp)`", (ROOT / "docs/api.md").read_text())))
CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(headers CXX)
find_package(mfidl REQUIRED COMPONENTS client server asio)
file(GLOB sources *.cpp)
add_library(headers OBJECT ${sources})
target_link_libraries(headers PRIVATE mfidl::client mfidl::server mfidl::asio)
set_target_properties(headers PROPERTIES CXX_STANDARD ${STANDARD} CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_compile_options(headers PRIVATE -O0 -Wall -Wextra -Wconversion -Werror)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("compiler", "standard"), [("g++", "20"), ("g++", "23"), ("clang++-19", "20")])
def test_each_public_header_compiles_alone(
    tmp_path: Path, prefix: Path, compiler: str, standard: str
) -> None:
    assert len(HEADERS) > 25
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    for header in HEADERS:
        (tmp_path / f"{header.replace('/', '_')}.cpp").write_text(
            f'#include "{header}"\n#include "{header}"\n'
        )

    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DSTANDARD={standard}", f"-DCMAKE_CXX_COMPILER={compiler}"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    run("cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", str(tmp_path / "build"), *options)
    run("cmake", "--build", str(tmp_path / "build"), timeout=850)


def test_no_public_header_but_asios_names_another_library(prefix: Path) -> None:
    foreign = re.compile(r"^#\s*include\s*<(boost|openssl|nats|librdkafka)", re.MULTILINE)
    found = [path for path in (prefix / "include").rglob("*.hpp") if foreign.search(path.read_text())]

    assert found == [prefix / "include/mf/client/asio.hpp"]
