"""docs/from-grpc.md, from-thrift.md and from-ice.md: their files are written, and their commands run."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n\n```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w./-]+)`(?: reads)?:$")


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """The kind of each block, the file that the line before it names, and its text."""
    for found in _BLOCK.finditer(page):
        named = _NAMED.search(found["before"])
        yield found["kind"], named[1] if named else "", found["text"]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def run(command: str, folder: Path) -> str:
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": f"{ROOT}:{ROOT / 'runtime/python'}:{folder}"}
    bash = ["bash", "-c", f"set -m; {command}"]
    done = subprocess.run(bash, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=100)
    return done.stdout + done.stderr


@pytest.mark.parametrize("peer", ["grpc", "thrift", "ice"])
def test_a_page_leads_from_an_interface_to_a_served_call(peer: str, tmp_path: Path) -> None:
    page = (ROOT / f"docs/from-{peer}.md").read_text().replace("127.0.0.1:7401", f"127.0.0.1:{free_port()}")
    done: list[str] = []
    for kind, name, text in blocks(page):
        done.append(kind)
        if kind == "sh":
            assert run(f"set -e; {text}", tmp_path) == ""
        elif kind == "console":
            command, _, expected = text.removeprefix("$ ").partition("\n")
            said = run(command, tmp_path)
            assert "".join(line for line in said.splitlines(True) if "Terminated" not in line) == expected
        elif kind == "mfidl":
            assert (tmp_path / name).read_text().endswith(text)
        else:
            assert name, text
            (tmp_path / name).write_text(text)

    interface = {"grpc": "proto", "thrift": "thrift", "ice": "text"}[peer]
    assert done == [interface, "sh", "mfidl", "sh", "python", "python", "console"]


@pytest.mark.parametrize("peer", ["grpc", "thrift", "ice"])
def test_each_block_of_a_page_is_read(peer: str) -> None:
    page = (ROOT / f"docs/from-{peer}.md").read_text()

    assert len(list(blocks(page))) * 2 == len(re.findall(r"^```", page, re.MULTILINE))
