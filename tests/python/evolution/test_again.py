"""A call that is made again elsewhere begins with its own bytes, whatever schema the server before had."""

from typing import Any

import pytest

from mf.core.error import Code, not_executed
from mf.core.service import MEMCPY
from mf.protocol.adapting import adapting
from mf.protocol.call import Call, RetryBudget
from mf.protocol.call_table import CallEvent, CallStep
from mf.protocol.calls import Binding
from tests.python.echo import DESCRIPTOR, ECHO_SERVICE, TWICE

WIDER = DESCRIPTOR.replace("x i32", "x i64")
OWN = b"\7\0\0\0"


def binding(descriptor: str) -> Binding:
    made = Binding("demo.Echo", "a", 1, 1e9)
    made.first = 0
    if descriptor != DESCRIPTOR:
        found = adapting(ECHO_SERVICE, descriptor, "")
        assert not isinstance(found, str)
        made.adaptation = found
    return made


def sent_to(call: Call[Any], descriptor: str) -> bytes:
    assert call.bound_to(binding(descriptor), 0.0) is CallStep.SEND
    return bytes(call.body)


def turned_away(call: Call[Any]) -> None:
    call.on(CallEvent.WRITTEN)
    call.failure = not_executed(Code.SHUTTING_DOWN, "it stops")
    call.ended_by = CallEvent.LOST
    assert call.settle(0.0) is CallStep.RESOLVE


@pytest.mark.parametrize("encoded_again", [False, True])
def test_each_attempt_is_in_the_schema_of_its_server(encoded_again: bool) -> None:
    call = Call(TWICE, 1e9, RetryBudget(), MEMCPY, OWN)
    call.begin()
    assert sent_to(call, WIDER) == OWN + bytes(4)
    turned_away(call)
    if encoded_again:  # as batches do
        call.begin_with(MEMCPY, OWN)
    assert sent_to(call, DESCRIPTOR) == OWN
    assert call.adapted is None

    call.on(CallEvent.WRITTEN)
    call.status, call.encoding, call.payload = 0, MEMCPY, bytes((14, 0, 0, 0))
    assert call.settle(0.0) is CallStep.END
    assert call.value() == 14


def test_an_attempt_at_another_schema_is_made_of_the_own_bytes() -> None:
    call = Call(TWICE, 1e9, RetryBudget(), MEMCPY, OWN)
    call.begin()
    for descriptor, body in ((WIDER, OWN + bytes(4)), (DESCRIPTOR, OWN)):
        assert sent_to(call, descriptor) == body
        turned_away(call)
    assert sent_to(call, WIDER.replace("i64", "i16")) == OWN[:2]
