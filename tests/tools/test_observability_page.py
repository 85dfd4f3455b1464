"""The metrics that the page lists are those that the programs write."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "observability.md"
CPP = ROOT / "runtime" / "cpp" / "src"
PYTHON = ROOT / "runtime" / "python" / "mf"
OF_CALLS = re.compile(r'(calls|duration)\s*=\s*"(mf_[a-z_]+)"')  # of CallFamilies
WRITTEN = re.compile(r'(?:(gauge|counter)|family)\(\s*"((?:mf|process)_[a-z_]+)"(?:,\s*Kind(?:::|\.)(\w+))?')


def written(folder: Path) -> set[str]:
    names = set()
    for path in [*folder.rglob("*.cpp"), *folder.rglob("*.py")]:
        for one, name, kind in WRITTEN.findall(path.read_text()):
            names.add(name + "_total" if "counter" in (one, kind.lower()) else name)
        for what, name in OF_CALLS.findall(path.read_text()):
            names.add(name + "_total" if what == "calls" else name)
    return names


def listed() -> set[str]:
    names, last = set(), ""
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| `mf_") and not line.startswith("| `process_"):
            continue
        for name in re.findall(r"`([a-z_…]+)`", line.split("|")[1]):
            name = last.rpartition("_accepted")[0] + name[1:] if name.startswith("…") else name
            names.add(name)
            last = name if "_accepted" in name else last
    return names


def test_each_metric_is_on_the_page_and_the_other_way_round() -> None:
    assert written(CPP) | written(PYTHON) == listed()


def test_both_languages_write_the_same_but_for_what_one_of_them_has_alone() -> None:
    both = {name for name in written(PYTHON) if not name.startswith("mf_topic_")}
    assert both == {name for name in written(CPP) if not name.startswith(("mf_controller_", "mf_http_"))}
