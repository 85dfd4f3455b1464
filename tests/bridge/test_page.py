"""docs/bridge.md, "From nothing to a durable topic", followed from top to bottom."""

import os
import re
import signal
import subprocess
from pathlib import Path

from tests.bridge.conftest import ROOT
from tests.etcd.cluster import eventually
from tests.interop.peers import BUILD, free_port

SALES = [("north", "apple", 120), ("north", "pear", 95), ("south", "apple", 110)]


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of code, and before it the words that name its file."""
    return re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)


def test_the_page_of_bridges_holds_from_top_to_bottom(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "bridge.md").read_text().partition("## What holds")[0]
    for port in ("4222", "7401", "7600"):
        page = page.replace(port, str(free_port()))
    schema, compile_it, seller, reader, run = blocks(page)
    assert [schema[0], compile_it[0], seller[0], reader[0], run[0]] == [
        "mfidl",
        "sh",
        "python",
        "python",
        "sh",
    ]
    (tmp_path / "shop.mfidl").write_text(schema[1])
    (tmp_path / "seller.py").write_text(seller[1])
    (tmp_path / "reader.py").write_text(reader[1])
    os.mkfifo(tmp_path / "sales")
    binaries = f"{ROOT / '.venv' / 'bin'}:{BUILD}"
    search = f"{ROOT}:{ROOT / 'runtime' / 'python'}"
    environment = os.environ | {
        "PATH": f"{binaries}:{os.environ['PATH']}:/usr/sbin",
        "PYTHONPATH": f"{tmp_path}:{search}",
    }
    subprocess.run(["bash", "-ec", compile_it[1]], cwd=tmp_path, env=environment, check=True, timeout=60)
    with (tmp_path / "said").open("wb") as said:
        shell = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", "bash", "-ec", run[1]],
            cwd=tmp_path,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        with (tmp_path / "sales").open("w") as sales:
            for branch, article, cents in SALES:
                print(branch, article, cents, file=sales, flush=True)
            wanted = {"north 1 apple 0", "north 2 pear 0", "south 1 apple 0"}
            eventually(
                lambda: wanted <= set((tmp_path / "said").read_text().splitlines()),
                "the reader has got all sales",
            )
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait(60)
