"""docs/security.md: the commands of its deployments run from top to bottom, and answer as the page says. They
have a network of their own, since the page names ports, in which the user is root."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.interop.peers import BUILD

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/security.md").read_text()


def test_the_commands_of_the_deployments_do_what_the_page_says(tmp_path: Path) -> None:
    (section,) = re.findall(r"^## Three deployments$(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    script = "set -mu\nip link set lo up\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n" + "".join(blocks)
    path = os.pathsep.join((str(Path(sys.executable).parent), str(BUILD), os.environ["PATH"]))
    python = os.pathsep.join((str(ROOT), str(ROOT / "runtime" / "python")))

    done = subprocess.run(
        ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"]), "bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "PYTHONPATH": python, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    said = [line for line in done.stdout.splitlines() if not re.fullmatch(r"\S+://127\.0\.0\.1:7\d43", line)]
    ours, server = "spiffe://ours.example", r"tls://127\.0\.0\.1:\d+"
    denied = rf"PERMISSION_DENIED: ({server}: )?%s may not call hello\.Greeter \(not executed\)"
    relayed = r"PERMISSION_DENIED: .*: %s may not call hello\.Greeter \(not executed\)"
    expected = (
        "Hello, Ada, known as uid:0",
        r"denied by one-host\.conf: no line fits",
        "as it should be",
        f"Hello, Ada, known as {ours}/web",
        denied % f"{ours}/stranger",
        f"Hello, Ada, known as {ours}/stranger",
        r"\S{8,}",  # the id of the key
        f"Hello, Ada, known as token:web via {ours}/relay",
        relayed % f"token:stranger via {ours}/relay",
    )
    assert len(said) == len(expected), done.stdout + done.stderr
    for line, pattern in zip(said, expected, strict=True):
        assert re.fullmatch(pattern, line), done.stdout + done.stderr
