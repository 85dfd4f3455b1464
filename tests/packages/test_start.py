"""docs/start.md: each command of the page runs on a bare Debian 12."""

import re
from pathlib import Path

import pytest

from .bare import run_on_bare_debian
from .conftest import DIST, ROOT

pytestmark = pytest.mark.timeout(1800)  # Debian packages are downloaded

PAGE = (ROOT / "docs/start.md").read_text()


def test_all_commands_of_the_page_run_on_a_bare_debian(tmp_path: Path, wheels: dict[str, Path]) -> None:
    assert wheels
    assert len(list(DIST.glob("*.deb"))) == 3, "run `make debs` first"
    made, *blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert made == "make wheels\nmake debs\n"
    assert len(blocks) == 6

    said = run_on_bare_debian(tmp_path, "".join(blocks))
    assert "100% tests passed, 0 tests failed out of 1" in said
    assert "2 passed" in said
    assert said.count("\nHello, Ada, from C++! Visit 1.") == 2
    assert said.count("\nHello, Ada, from Python! Visit 1.") == 1
