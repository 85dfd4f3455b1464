"""docs/bridge.md, "From nothing to a durable topic", followed from top to bottom."""

import os
import re
import signal
import subprocess
from functools import partial
from pathlib import Path

from tests.bridge.conftest import ROOT
from tests.etcd.cluster import eventually
from tests.interop.peers import BUILD, free_port

SALES = [(("north", "south")[at % 2], f"article{at}", at) for at in range(1000)]


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of code, and before it the words that name its file."""
    return re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)


def lines_are(said: Path, branch: str, wanted: list[str]) -> bool:
    return [line for line in said.read_text().splitlines() if line.startswith(f"{branch} ")] == wanted


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
    (tmp_path / "sales").write_text("".join(f"{' '.join(map(str, sale))}\n" for sale in SALES))
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
        for branch in ("north", "south"):
            articles = [article for at, article, _ in SALES if at == branch]
            wanted = [f"{branch} {number} {each} 0" for number, each in enumerate(articles, 1)]
            has_all = partial(lines_are, tmp_path / "said", branch, wanted)
            eventually(has_all, f"the reader has got all sales of {branch} in order")
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait(60)
