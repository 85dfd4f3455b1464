"""`mf lead`: a command that runs in one place at a time, by the election of a controller."""

import os
import signal
import subprocess
from contextlib import suppress
from time import monotonic
from typing import Any

import click

from mf_tools.connect import Place, placed, quiet
from mf_tools.guard import FAILED, NO_ANSWER, USAGE, CommandError
from mf_tools.output import emit, line, note

_DESCRIPTOR = "service mf.tools.Lead\n per name string\n"
_STEP = 0.2
_KILL_AFTER = 10.0


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("run", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--wait", type=click.FloatRange(min=0), help="For so many seconds; without it, for ever.")
@placed
def command(place: Place, name: str, run: tuple[str, ...], wait: float | None) -> int:
    """Wait for the lead of NAME among all `mf lead` of this name, and hold it while COMMAND runs.

    COMMAND has the epoch in MF_LEAD_EPOCH: what only the leader may change must refuse a smaller epoch than
    it has seen. It gets SIGTERM where the lead is lost, and then this ends with 1. Without COMMAND the lead
    is held until Ctrl-C.
    """
    import mf
    from mf import described

    if not place.where.startswith(("mf://", "mf+tls://")):
        raise CommandError("a lead is given by a controller: --where mf://…", USAGE)
    quiet()
    info = described.Service(described.Description("mf.tools.Lead", _DESCRIPTOR, "")).info
    servant: Any = type("LeadServant", (mf.Servant,), {"mf_service": info})
    try:
        server = mf.Server("tcp://127.0.0.1:0", place.where, controller_tls=place.tls())
        server.offer(servant(), agent=name)
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None
    with server:
        candidacy = server.lead(servant, agent=name)
        if wait is not None and not _within(candidacy, wait):
            raise CommandError(f"another process has led {name} for {wait:g} s", NO_ANSWER)
        if wait is None:
            candidacy.__enter__()
        try:
            return _held(place, candidacy, name, run)
        finally:
            candidacy.__exit__(None, None, None)


def _within(candidacy: Any, wait: float) -> bool:
    """Whether this process leads in time; a candidacy is entered on a thread, since entering blocks."""
    from threading import Thread

    until = monotonic() + wait

    def enter() -> None:
        with suppress(Exception):  # the server has stopped since
            candidacy.__enter__()

    thread = Thread(target=enter, name="mf-lead", daemon=True)
    thread.start()
    thread.join(max(0.0, until - monotonic()))
    return bool(candidacy.held)


def _held(place: Place, lead: Any, name: str, run: tuple[str, ...]) -> int:
    if not run:
        if place.json:
            emit({"name": name, "epoch": lead.epoch})
        else:
            line(f"leads {name}, epoch {lead.epoch}")
        while not lead.lost(timeout=_STEP):
            pass
        raise CommandError(f"the lead of {name} was lost", FAILED)
    child = subprocess.Popen(run, env=os.environ | {"MF_LEAD_EPOCH": str(lead.epoch)})
    try:
        while True:
            try:
                return child.wait(_STEP)
            except subprocess.TimeoutExpired:
                pass
            if lead.lost(timeout=0.0):
                note(f"mf: the lead of {name} was lost: {run[0]} is ended")
                _ended(child)
                return FAILED
    except BaseException:
        _ended(child)
        raise


def _ended(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(_KILL_AFTER)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
