"""The server's call machine: every cell of its table, and any order of events."""

import random

import pytest

from mf.protocol.server_call import ServerCall, ServerCallEvent, ServerCallState, ServerCallStep
from tests.python.protocol.decision import table

CELLS = table("The server's table")
WAYS = {
    ServerCallState.RECEIVED: (),
    ServerCallState.WAITING: (ServerCallEvent.QUEUED,),
    ServerCallState.RUNNING: (ServerCallEvent.STARTED,),
    ServerCallState.STOPPING: (ServerCallEvent.STARTED, ServerCallEvent.CANCELLED),
    ServerCallState.ENDED: (ServerCallEvent.ANSWERED,),
}


def call_in(state: ServerCallState, oneway: bool = False) -> ServerCall:
    call = ServerCall(oneway=oneway)
    for event in WAYS[state]:
        call.on(event)
    assert call.state is state
    return call


@pytest.mark.parametrize("oneway", [False, True])
@pytest.mark.parametrize(("state", "event"), [(s, e) for s in ServerCallState for e in ServerCallEvent])
def test_every_cell_is_that_of_the_decision(
    state: ServerCallState, event: ServerCallEvent, oneway: bool
) -> None:
    cell = CELLS[state.name.lower(), event.name.lower()]
    usual, _, of_oneway = cell.partition(" (one-way: ")
    call = call_in(state, oneway)

    if not cell:
        with pytest.raises(ValueError, match=event.name):
            call.on(event)
        assert call.state is state
        return
    step = call.on(event)

    expected = of_oneway.rstrip(")") if oneway and of_oneway else usual
    assert f"{call.state.name} / {step.name}".lower() == expected


@pytest.mark.parametrize("seed", range(200))
def test_in_any_order_of_events_a_call_is_answered_at_most_once(seed: int) -> None:
    draw = random.Random(seed)
    call = ServerCall(oneway=draw.random() < 0.3)
    ends = runs = 0
    for _ in range(100):
        event = draw.choice(list(ServerCallEvent))
        if not CELLS[call.state.name.lower(), event.name.lower()]:
            continue
        before = call.state
        step = call.on(event)
        ends += step in (ServerCallStep.ANSWER, ServerCallStep.REFUSE, ServerCallStep.DROP)
        runs += step is ServerCallStep.RUN
        if before is ServerCallState.ENDED:
            assert step is ServerCallStep.NONE

    assert ends == (call.state is ServerCallState.ENDED)
    assert runs <= 1
