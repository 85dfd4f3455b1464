"""Who only keeps values brings no network along: no Asio, no Boost, no thread in C++, no socket in Python."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

NETWORK = {
    "asyncio",
    "concurrent.futures",
    "multiprocessing",
    "select",
    "selectors",
    "socket",
    "ssl",
    "threading",
}

SAY_MODULES = "\nimport sys; print(*sorted(sys.modules))"
USE_CODECS = """
import mf
import keep
posting = keep.Posting(1, [2, 3], {"a": [keep.Point(1.0, 2.0, keep.Rank.pagerank)]}, mf.Timestamp(4))
for value in (posting, posting.terms["a"][0], keep.ValueAll([keep.ValueText("b")]), keep.Missing("c")):
    data = mf.to_bytes(value)
    assert mf.to_bytes(mf.from_bytes(type(value), data)) == data
    assert mf.hash64(value) != mf.hash37(value)
"""


def modules_after(code: str, *paths: Path) -> set[str]:
    """What a process has imported that the interpreter did not bring by itself."""
    found = []
    for text in (code, ""):
        lead = f"import sys; sys.path[:0] = {[str(each) for each in paths]!r}\n"
        done = subprocess.run(
            [sys.executable, "-c", lead + text + SAY_MODULES],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append(set(done.stdout.split()))
    return found[0] - found[1]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("python")
    command = [sys.executable, "-m", "mfidl", "compile", str(HERE / "codecs.mfidl"), "--python", str(out)]
    subprocess.run(command, check=True, timeout=60)
    return out


def test_python_codecs_import_neither_sockets_nor_threads(generated: Path) -> None:
    found = modules_after(USE_CODECS, generated)

    assert {"mf.codec.value", "keep", "keep._codec"} <= found
    assert found & NETWORK == set()
    runtime = {name.split(".")[1] for name in found if name.startswith("mf.")}
    assert runtime == {"codec", "core"}


def test_a_client_does_import_them() -> None:
    assert {"socket", "threading"} <= modules_after("import mf; mf.Client")
