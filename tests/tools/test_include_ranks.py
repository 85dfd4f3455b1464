"""The include-rank check finds each kind of forbidden include and leaves the allowed ones alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.check_include_ranks import check

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    (tmp_path / "include" / "mf").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_lower_floor_and_the_own_floor_may_be_included(runtime: Path) -> None:
    write(
        runtime / "include/mf/link/link.hpp",
        '#include <vector>\n#include "mf/core/error.hpp"\n#include "mf/link/reconnect.hpp"\n'
        "#include <mf/transport/socket.hpp>\n#include <boost/asio/io_context.hpp>\n",
    )

    assert check(runtime) == []


def test_a_higher_floor_is_refused_with_file_line_and_reason(runtime: Path) -> None:
    path = write(runtime / "include/mf/protocol/session.hpp", '#pragma once\n#include "mf/link/link.hpp"\n')

    (mistake,) = check(runtime)

    assert mistake.startswith(f"{path}:2: ")
    assert "floor 'protocol' (R2) must not include" in mistake
    assert "higher floor 'link' (R4)" in mistake


def test_a_generated_header_belongs_to_the_floor_that_it_is_named_after(runtime: Path) -> None:
    write(runtime / "src/app/main.cpp", '#include "mf/controller.client.hpp"\n')
    write(runtime / "src/controller/registry.cpp", '#include "mf/controller.hpp"\n')
    client = write(runtime / "src/client/client.cpp", '#include "mf/controller.client.hpp"\n')

    (mistake,) = check(runtime)

    assert mistake.startswith(f"{client}:1: ")
    assert "higher floor 'controller' (R7)" in mistake


def test_siblings_may_not_include_each_other(runtime: Path) -> None:
    write(runtime / "src/client/client.cpp", '#include "mf/server/server.hpp"\n')

    (mistake,) = check(runtime)

    assert "must not include its sibling 'server'" in mistake


@pytest.mark.parametrize("header", ["<boost/asio.hpp>", "<boost/asio/io_context.hpp>", "<asio/buffer.hpp>"])
@pytest.mark.parametrize("floor", ["core", "codec", "protocol"])
def test_asio_is_refused_below_the_transports(runtime: Path, floor: str, header: str) -> None:
    write(runtime / f"src/{floor}/x.cpp", f"#  include {header}\n")

    (mistake,) = check(runtime)

    assert f"floor '{floor}' must not include Asio" in mistake


def test_a_private_header_reached_by_a_relative_path_counts_for_its_own_floor(runtime: Path) -> None:
    write(runtime / "src/link/detail.hpp", "#pragma once\n")
    write(runtime / "src/codec/reader.cpp", '#include "../link/detail.hpp"\n')

    (mistake,) = check(runtime)

    assert "higher floor 'link'" in mistake


def test_a_private_header_of_a_lower_floor_is_refused(runtime: Path) -> None:
    write(runtime / "src/core/detail.hpp", "#pragma once\n")
    write(runtime / "src/core/x.cpp", '#include "core/detail.hpp"\n')
    path = write(runtime / "src/codec/reader.cpp", '#include "core/detail.hpp"\n')

    (mistake,) = check(runtime)

    assert mistake.startswith(f"{path}:1: ")
    assert "'core/detail.hpp' is private to floor 'core'" in mistake


def test_an_include_that_is_commented_out_is_no_include(runtime: Path) -> None:
    write(runtime / "src/core/x.cpp", '// #include "mf/app/main.hpp"\n')

    assert check(runtime) == []


@pytest.mark.parametrize("name", ["include/mf/everything.hpp", "src/misc/x.cpp"])
def test_a_file_on_no_floor_is_refused(runtime: Path, name: str) -> None:
    path = write(runtime / name, "")

    (mistake,) = check(runtime)

    assert mistake.startswith(f"{path}:1: this file is on no floor")


def test_the_command_ends_with_1_on_a_mistake_and_with_0_without(runtime: Path) -> None:
    command = [sys.executable, str(ROOT / "tools/check_include_ranks.py"), str(runtime)]
    assert subprocess.run(command, check=False).returncode == 0

    write(runtime / "src/core/x.cpp", '#include "mf/codec/writer.hpp"\n')
    result = subprocess.run(command, check=False, capture_output=True, text=True)

    assert result.returncode == 1
    assert "x.cpp:1: floor 'core' (R0) must not include" in result.stderr
