"""Each test that docs/faults.md names exists."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"
IN_CPP = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`([A-Za-z]+\.[A-Z]\w+|[\w/]+\.py::\w+)`", PAGE.read_text("utf-8"))
    cpp = {
        f"{suite}.{name}" for file in TESTS.rglob("*.cpp") for suite, name in IN_CPP.findall(file.read_text())
    }

    assert len(named) > 50
    missing = [name for name in named if "::" not in name and name not in cpp]
    for name in (name for name in named if "::" in name):
        path, _, function = name.partition("::")
        file = TESTS / path
        if not file.is_file() or not re.search(
            rf"^(async )?def {function}\(", file.read_text(), re.MULTILINE
        ):
            missing.append(name)
    assert missing == []
