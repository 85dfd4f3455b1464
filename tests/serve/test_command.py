"""The command `mfidlc serve`: from its start to Ctrl-C."""

import os
import re
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from tests.compiler.test_cli import ROOT, mfidlc


def test_it_prints_its_address_serves_the_page_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mfidl", "serve", "--no-open"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            address = re.fullmatch(
                r"The playground is at http://127\.0\.0\.1:(\d+)/#[\w-]{22}\n", running.stdout.readline()
            )
            assert address is not None
            assert running.stdout.readline() == "Ctrl-C ends it.\n"
            connection = HTTPConnection("127.0.0.1", int(address[1]), timeout=30)
            connection.request("GET", "/")
            assert b"MF/IDL playground" in connection.getresponse().read()
            connection.close()
            running.send_signal(signal.SIGINT)
            assert running.stdout.read() == "The playground has ended.\n"
            assert running.wait(60) == 0
        finally:
            running.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = mfidlc("serve", "--no-open", "--port", str(port), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"mfidlc: cannot listen at 127.0.0.1:{port}: Address already in use\n"


def test_the_key_is_no_argument_of_the_browser(tmp_path: Path) -> None:
    """Other users can read arguments, and not the page that leads to the address."""
    saw, temporary = tmp_path / "saw", tmp_path / "temporary"
    temporary.mkdir()
    browser = tmp_path / "browser"
    browser.write_text(
        "#!/bin/sh\n"
        'page="${1#file://}"\n'
        f'{{ echo "$*"; stat -c %a "$page" "$(dirname "$page")"; cat "$page"; }} > {saw}\n'
    )
    browser.chmod(0o700)
    command = [sys.executable, "-m", "mfidl", "serve"]
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    env = {**os.environ, "PYTHONPATH": path, "DISPLAY": ":none", "TMPDIR": str(temporary)}
    env["BROWSER"] = f"{browser} %s"
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            address = running.stdout.readline().split()[-1]
            connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
            connection.request("GET", "/")  # which is answered once the browser was started
            assert connection.getresponse().status == 200
            connection.close()
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0
        finally:
            running.kill()
    arguments, *modes, page = saw.read_text().splitlines()
    assert arguments.startswith(f"file://{temporary}/mfidlc-")
    assert modes == ["600", "700"]
    assert f"url={address}" in page
    assert list(temporary.iterdir()) == []
