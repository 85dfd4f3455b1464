"""What a command lives through: terminals, pipes, signals, disks, plugins and peers."""

import fcntl
import json
import os
import pty
import resource
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

from mf_tools import group, output
from tests.interop.peers import Server
from tests.mf_tools.conftest import Tool

PATIENCE = 60


def on_terminal(tool: Tool, columns: int, *arguments: str, **env: str) -> tuple[str, int]:
    """What a terminal of this width shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {"TERM": "xterm-256color", "COLUMNS": "", **env}
    process = tool.process(*arguments, stdout=theirs, stderr=theirs, env=settings)
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    process.communicate(timeout=PATIENCE)
    return shown.decode().replace("\r\n", "\n"), process.returncode


@pytest.mark.parametrize("columns", [20, 80])
def test_a_table_fits_its_terminal(tool: Tool, columns: int) -> None:
    shown, code = on_terminal(tool, columns, "errors", NO_COLOR="1")
    assert code == 0
    assert max(map(len, shown.splitlines())) <= columns
    assert "\x1b" not in shown
    assert "UNAVAILABLE" in shown or columns < 80


def test_a_terminal_gets_colours_unless_it_wants_none(tool: Tool) -> None:
    assert "\x1b[1m" in on_terminal(tool, 80, "cheat", "template")[0]
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown, _ = on_terminal(tool, 80, "errors", **env)
        assert "\x1b" not in shown


def test_help_fits_a_terminal_of_20_columns(tool: Tool) -> None:
    shown, code = on_terminal(tool, 20, "--help")
    assert code == 0
    assert "describe" in shown


def test_a_reader_that_leaves_ends_it_with_141(tool: Tool) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    process = tool.process("errors", stdout=theirs)
    os.close(theirs)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (141, b"")


def test_an_output_that_is_full_ends_with_3(tool: Tool) -> None:
    with Path("/dev/full").open("wb") as full:
        process = tool.process("errors", stdout=full)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (3, b"mf: cannot write: No space left on device\n")


def test_a_recording_on_a_full_disk_keeps_what_it_has(tool: Tool, shop: Server) -> None:
    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    record = ("record", "shop.Sales", "sales.rec", "-n", "1", "-w", shop.address)
    # Bytecode that the limit cuts off would break every later import of the module.
    process = tool.process(*record, preexec_fn=small, env={"PYTHONDONTWRITEBYTECODE": "1"})
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (3, b"recorded 0\nmf: cannot write: File too large\n")
    assert Path("sales.rec").stat().st_size == 100


def test_closed_streams_are_no_fault(tool: Tool) -> None:
    def closed() -> None:
        for each in (0, 1, 2):
            os.close(each)

    process = tool.process("errors", stdin=None, stdout=None, stderr=None, preexec_fn=closed)
    assert process.wait(PATIENCE) == 3  # there is no output to write to


def has_socket(pid: int) -> bool:
    with suppress(FileNotFoundError):
        held = (str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir())
        return any(each.startswith("socket:") for each in held)
    return False


@pytest.mark.parametrize(
    "command",
    [
        ("sub", "shop.News"),
        ("call", "shop.Shop.slow", '{"seconds": 50}', "--deadline", "60"),
        ("call", "shop.Shop.shout"),
        ("bench", "shop.Shop.find", "--for", "60"),
    ],
    ids=lambda command: command[0] if isinstance(command, tuple) else command,
)
def test_ctrl_c_ends_it_with_130_and_one_line(tool: Tool, shop: Server, command: tuple[str, ...]) -> None:
    assert interrupted(tool, *command, "-w", shop.address) == (130, b"mf: interrupted\n")


@pytest.mark.parametrize(
    "command",
    [
        ("record", "shop.News", "news.rec"),
        ("replay", "sales.rec", "--speed", "0.001", "--wait", "0"),
        ("replay", "sales.rec", "--wait", "50"),
        ("pub", "shop.News"),
        ("recv", "north"),
        ("send", "none", "x=1", "--deadline", "50"),
        ("lead", "job"),
        ("lead", "other", "--", "sleep", "50"),
        ("tap", "shop_server.py"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_ctrl_c_ends_what_goes_on_at_a_controller(
    tool: Tool, controller: Server, registered: Server, command: tuple[str, ...]
) -> None:
    del registered
    tool.at(controller.address)
    head = tool.json("describe", "shop.Sales", "--raw")
    del head["address"]
    messages = [{"t": at, "agent": "maps", "value": {"title": "A map", "count": at}} for at in range(9)]
    lines = [{"mf_recording": 1, "topic": "shop.Sales", "begun": "", **head}, *messages]
    Path("sales.rec").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    code, err = interrupted(tool, *command)
    assert (code, err.splitlines()[-1]) == (130, b"mf: interrupted")


@pytest.mark.parametrize(
    "command",
    [("ls",), ("describe", "shop.Shop"), ("call", "shop.Shop.find"), ("doctor",), ("groups",), ("latency",)],
    ids=lambda command: command[0],
)
def test_ctrl_c_ends_the_wait_for_a_server_that_says_nothing(tool: Tool, command: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"mf://127.0.0.1:{silent.getsockname()[1]}"
        assert interrupted(tool.at(where), *command) == (130, b"mf: interrupted\n")


def interrupted(tool: Tool, *command: str) -> tuple[int, bytes]:
    """Its exit code and what it says, after Ctrl-C once it has opened a socket."""
    process = tool.process(*command)
    while not has_socket(process.pid):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


@pytest.mark.parametrize("after", [0.1, 0.2, 0.4])
def test_ctrl_c_while_it_starts_shows_no_traceback(tool: Tool, shop: Server, after: float) -> None:
    process = tool.process("sub", "shop.News", "-w", shop.address)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert b"/mf_tools/" not in err  # what Python itself prints before it has come so far is its own


@pytest.mark.parametrize(
    "command",
    [
        ("ls", "--where", "mf://mary:secret@127.0.0.1:7400"),
        ("context", "add", "lab", "mf://mary:secret@127.0.0.1:7400"),
        ("doctor", "mf://mary:secret@127.0.0.1:7400"),
        ("tap", "tcp://mary:secret@127.0.0.1:7400"),
        ("call", "shop.Shop.find", "--metadata", "authorization=secret", "--where", "tcp://127.0.0.1:7400"),
    ],
    ids=lambda command: command[0],
)
def test_a_secret_on_the_command_line_is_refused_and_not_repeated(
    tool: Tool, command: tuple[str, ...]
) -> None:
    assert "secret" not in tool.fails(2, *command)


def test_names_of_peers_do_not_reach_the_terminal_as_they_are() -> None:
    assert output.safe("plain – sea") == "plain – sea"
    assert output.safe_json('{"a":"\x9b\u202e – sea"}') == '{"a":"\\u009b\\u202e – sea"}'
    assert output.safe("a\x1b[2Jb\r\n\u202e") == "a\\x1b[2Jb\\r\\n\\u202e"


def test_a_plugin_adds_a_command_and_a_broken_one_is_named(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tool.folder / "plug-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    points = (
        "[mf_tools.commands]\nhello = plug:hello\nbroken = plug:nothing\nls = plug:hello\nnone = os:path\n"
    )
    (info / "entry_points.txt").write_text(points)
    text = "import click\n\n@click.command()\ndef hello():\n    click.echo('from a plugin')\n"
    (tool.folder / "plug.py").write_text(text)
    monkeypatch.syspath_prepend(str(tool.folder))
    group._plugins.cache_clear()
    try:
        assert tool.well("hello") == "from a plugin\n"
        assert "hello" in tool.well("--help")
        assert "plug:nothing) cannot be loaded: AttributeError" in tool.fails(3, "broken")
        assert "is no click.Command" in tool.fails(3, "none")
        assert "it is not said where" in tool.fails(2, "ls")  # the tool's own
    finally:
        group._plugins.cache_clear()


def test_an_unknown_command_is_named_with_the_nearest(tool: Tool) -> None:
    assert (
        tool.fails(2, "descibe") == "there is no command 'descibe'; did you mean 'describe'? (see: mf --help)"
    )


def imported(where: str, command: str, *modules: str) -> list[str]:
    """Those of the modules that a command has imported."""
    path = os.pathsep.join(str(Path(__file__).parents[2] / each) for each in ("cli", "runtime/python"))
    code = (
        f"import sys; from mf_tools.guard import guarded; assert guarded([{command!r}]) == 0;"
        f"print([each for each in {modules} if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path, "MF_WHERE": where},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1].replace("'", '"'))
    return found


def test_help_imports_nothing_of_the_runtime() -> None:
    assert imported("", "--help", "mf", "rich", "asyncio", "importlib.metadata", "textual") == []


def test_a_list_imports_neither_asyncio_nor_rich(controller: Server) -> None:
    assert imported(controller.address, "ls", "asyncio", "rich", "cryptography", "mf.described") == []
