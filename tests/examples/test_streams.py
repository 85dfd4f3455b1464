"""examples/4_streams: a file of the corpus is uploaded, and what is found in it followed, crosswise."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/4_streams"
BUILT = Path(os.environ.get("MF_BUILD_DIR", ROOT / "build/release")) / "examples/4_streams"
PATH = os.pathsep.join(map(str, (BUILT / "python", ROOT / "runtime/python")))
SERVERS = {"C++": [str(BUILT / "glosses-server")], "Python": [sys.executable, str(EXAMPLE / "server.py")]}
CLIENTS = {"C++": [str(BUILT / "glosses-client")], "Python": [sys.executable, str(EXAMPLE / "client.py")]}
ENVIRONMENT = os.environ | {"PYTHONPATH": PATH}
NOUNS = Path("/usr/share/wordnet/data.noun")


@contextmanager
def serving(language: str) -> Iterator[str]:
    server = subprocess.Popen(
        [*SERVERS[language], "tcp://127.0.0.1:0"], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        try:
            assert server.wait(timeout=10) == 0
        finally:
            server.kill()
            server.communicate()


def run(client: str, *arguments: str) -> str:
    done = subprocess.run(
        [*CLIENTS[client], *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def expected(letters: str, count: int, *, stopped: bool) -> str:
    text = NOUNS.read_text()
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if letters in line]
    shown = "".join(f"{number}: {line.partition(' | ')[0]}\n" for number, line in lines[:count])
    stored = f"stored {len(text)} bytes in {text.count(chr(10))} lines, as they were sent\n"
    searched = "the search was stopped\n" if stopped else "the whole file was searched\n"
    return f"{stored}{shown}{searched}no file verbs\n"


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_is_uploaded_and_matches_are_followed_until_there_are_enough(client: str, server: str) -> None:
    with serving(server) as address:
        some = run(client, str(NOUNS), " water", "3", address)
        everything = run(client, str(NOUNS), "congener", "100", address)

    assert some == expected(" water", 3, stopped=True)
    assert everything == expected("congener", 100, stopped=False)


def test_the_python_programs_pass_mypy_strict(tmp_path: Path) -> None:
    flags = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    for source in ("server.py", "client.py"):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *flags, str(EXAMPLE / source)],
            env=os.environ | {"MYPYPATH": PATH},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
