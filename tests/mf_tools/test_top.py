"""`mf top`: what its screen shows, at any width, and what its keys do."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from mf_tools.dash.board import Board
from mf_tools.screen import Screen, cell, columns, ordered, rows
from tests.interop.peers import Server
from tests.mf_tools.conftest import Tool
from tests.mf_tools.test_dash_board import board_of, instance, nonce

FIGURES = {"calls": 1234.5, "errors": 0.5, "p50": 0.000_131, "p99": 0.002}
POINT: dict[str, Any] = {"number": 1}


def filled() -> Board:
    board, _ = board_of(instance(1), instance(2), instance(3, "shop.Clock"), instance(4, "mf.flex.Mailbox"))
    board.answered(nonce(2), state="silent", why=["nothing listens"])
    monitor = {"name": "127.0.0.1:9465", "trouble": "", **FIGURES}
    lost = {
        "name": "127.0.0.1:9466",
        "trouble": "127.0.0.1:9466 does not answer",
        "calls": 0.0,
        "errors": 0.0,
    }
    board.measured(POINT, [{"service": "shop.Shop", **FIGURES}], [], [monitor, lost])
    board.controller(answers=True, trouble="")
    return board


async def _nothing() -> None:
    await asyncio.Event().wait()


def driven(board: Board, size: tuple[int, int], act: Callable[[Screen, Any], Awaitable[None]]) -> None:
    """The screen on a terminal of this size, driven by a pilot."""

    async def main() -> None:
        screen = Screen(board, _nothing)
        async with screen.run_test(size=size) as pilot:
            await pilot.pause()
            await act(screen, pilot)

    asyncio.run(main())


def shown(screen: Screen) -> list[list[str]]:
    """The table, with its heads."""
    table = screen.query_one("DataTable")
    heads = [str(column.label) for column in table.columns.values()]  # type: ignore[attr-defined]
    found = [table.get_row_at(number) for number in range(table.row_count)]  # type: ignore[attr-defined]
    return [heads, *([str(each) for each in row] for row in found)]


def status(screen: Screen) -> str:
    return str(screen.query_one("#status").render())


def test_services_have_their_instances_and_figures() -> None:
    async def act(screen: Screen, _: Any) -> None:
        assert shown(screen) == [
            ["name", "inst", "state", "calls/s", "err/s", "p50", "p99"],
            ["shop.Shop", "2", "1 bad", "1234", "0.5", "131 us", "2.00 ms"],
            ["shop.Clock", "1", "ok", "", "", "", ""],
        ]
        assert status(screen) == "mf://host:7400  services by name"

    driven(filled(), (100, 20), act)


def test_keys_change_the_view_and_the_order_and_end_it() -> None:
    async def act(screen: Screen, pilot: Any) -> None:
        await pilot.press("v")
        table = shown(screen)
        assert table[0] == ["name", "state", "address"]
        assert table[1] == [f"process 2 {nonce(2)[:8]}", "silent: nothing listens", "tcp://127.0.0.1:2"]
        assert len(table) == 5
        await pilot.press("v", "o")
        assert [row[:2] for row in shown(screen)[1:]] == [
            ["127.0.0.1:9465", "answers"],
            ["127.0.0.1:9466", "127.0.0.1:9466 does not answer"],
        ]
        assert status(screen).endswith("monitors by calls")
        await pilot.press("v")
        assert shown(screen)[0][1] == "inst"
        await pilot.press("q")
        assert screen.return_code == 0

    driven(filled(), (100, 20), act)


def test_it_follows_what_changes() -> None:
    board = filled()

    async def act(screen: Screen, pilot: Any) -> None:
        before = shown(screen)
        board.measured(POINT, [{"service": "shop.Shop", **FIGURES, "calls": 7.0}], [], [])
        screen.draw()
        await pilot.pause()
        assert [row[3] for row in shown(screen)[1:]] == ["7.0", ""]
        assert [row[0] for row in shown(screen)] == [row[0] for row in before]
        board.snapshot("service", [instance(9, "shop.New")], again=False)
        board.controller(answers=False, trouble="nothing listens\x1b[31m")
        screen.draw()
        await pilot.pause()
        assert [row[0] for row in shown(screen)[1:]] == ["shop.New"]
        assert status(screen) == "the controller does not answer: nothing listens\\x1b[31m"

    driven(board, (100, 20), act)


@pytest.mark.parametrize(
    ("width", "heads"),
    [(20, ["name", "calls/s"]), (60, ["name", "inst", "state", "calls/s", "p99"]), (8, ["name", "calls/s"])],
)
def test_a_narrow_terminal_has_fewer_columns(width: int, heads: list[str]) -> None:
    async def act(screen: Screen, pilot: Any) -> None:
        assert shown(screen)[0] == heads
        await pilot.resize_terminal(100, 20)
        await pilot.pause()
        assert len(shown(screen)[0]) == 7

    driven(filled(), (width, 5), act)


def test_without_colours_its_words_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def act(screen: Screen, _: Any) -> None:
        assert shown(screen)[1][2] == "1 bad"
        styles = [segment.style for strip in screen.screen._compositor.render_strips() for segment in strip]
        colours = {
            style.color.get_truecolor() for style in styles if style is not None and style.color is not None
        }
        assert all(red == green == blue for red, green, blue in colours)

    driven(filled(), (100, 20), act)


def test_text_of_peers_is_no_markup() -> None:
    board, _ = board_of(instance(1, "[red]shop.Shop[/red]"), instance(2, "shop.\x1b[31mX"))

    async def act(screen: Screen, _: Any) -> None:
        assert [row[0] for row in shown(screen)[1:]] == ["[red]shop.Shop[/red]", "shop.\\x1b[31mX"]

    driven(board, (100, 20), act)


def test_what_fails_comes_first_and_names_break_ties() -> None:
    found = ordered(rows(filled(), "instances"), "calls")
    assert [row["name"].split()[1] for row in found] == ["2", "1", "3", "4"]
    assert columns("instances", 20) == ["name", "state"]
    assert cell({"calls": 99.94}, "calls") == "99.9"
    assert cell({}, "p99") == ""


def read_until(terminal: int, text: bytes | None) -> bytes:
    """What comes until this text does, or (None) until the program at the other end has ended."""
    seen = b""
    with suppress(OSError):  # it has ended
        while text is None or text not in seen:
            seen += os.read(terminal, 1 << 16)
    return seen


def test_it_runs_on_a_terminal_and_ends_by_its_key(
    tool: Tool, controller: Server, registered: Server
) -> None:
    del registered
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
    process = tool.process("top", "--where", controller.address, stdin=its, stdout=its, stderr=its)
    os.close(its)
    try:
        seen = read_until(ours, b"shop.Shop")
        assert b"shop.Shop" in seen, seen
        os.write(ours, b"q")
        rest = read_until(ours, None)
        assert process.wait(30) == 0, rest
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_it_needs_a_terminal_and_a_controller(tool: Tool, controller: Server, shop: Server) -> None:
    assert "top needs a terminal" in tool.fails(2, "top", "--where", controller.address)
    assert "this needs a controller" in tool.fails(2, "top", "--where", shop.address)
    assert "is no HOST:PORT" in tool.fails(2, "top", "--where", controller.address, "--monitor", "x")
