"""docs/testing.md: the test that it makes of a recording of calls passes, and fails for another shop.

That of C++ is tests/cpp/testing/report_test.cpp."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.interop.peers import Server
from tests.mf_tools.conftest import HERE, ROOT, Tool
from tests.mf_tools.test_calls_again import FOUND, Record

PAGE = (ROOT / "docs/testing.md").read_text()
SECTION = PAGE.partition("## A report of a fault becomes a test")[2]


def ran(stubs: Path) -> "subprocess.CompletedProcess[str]":
    """The page's test, in the current folder."""
    path = os.pathsep.join(map(str, (stubs, ROOT / "runtime" / "python")))
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", ".", "-p", "no:mf"]
    return subprocess.run(
        [*command, "test_report.py"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_test_of_the_page_passes(tool: Tool, shop: Server, stubs: Path) -> None:
    tool.at(shop.address)
    record = Record(tool, shop.address, "calls.rec", "--agents", "maps")
    record.begun(*FOUND)
    tool.fails(6, "call", "shop.Shop.item", '{"title": "?"}', "--at", "maps")
    record.until("item")
    record.end()
    Path("calls.rec").rename("report.rec")
    program = (HERE / "programs" / "shop_server.py").read_text()
    Path("my_shop.py").write_text(program)
    block = re.search(r"```python\n(.*?)```", SECTION, re.DOTALL)
    assert block is not None
    Path("test_report.py").write_text(block[1])
    done = ran(stubs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout

    Path("my_shop.py").write_text(program.replace("7.25", "8.25"))
    done = ran(stubs)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in done.stdout


def test_the_test_in_cpp_is_the_one_that_is_compiled() -> None:
    code = (ROOT / "tests/cpp/testing/report_test.cpp").read_text()
    block = re.search(r"```cpp\n(.*?)```", SECTION, re.DOTALL)
    assert block is not None
    compiled = code[code.index("#include <gtest") : code.index("\n}  // namespace\n")]
    compiled = compiled.replace("namespace mftest::report_test {\nnamespace {\n\n", "")
    assert block[1] == compiled.replace("REPORT", '"report.rec"')
