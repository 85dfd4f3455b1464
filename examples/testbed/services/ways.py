"""The three ways to make many calls of one method, behind one function: what the testbed compares."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import mf
from testbed.document import Way

MESSAGE_BATCH = 128
"""What `@batch` says when a schema says nothing."""
APPLICATION_BATCH = 2048
"""Calls in one message of an application-level batch: our choice, far below what fits in 2^24 bytes."""

CALLS_PER_MESSAGE = {
    Way.single: 1,
    Way.message_batch: MESSAGE_BATCH,
    Way.application_batch: APPLICATION_BATCH,
}

Request = TypeVar("Request")
Result = TypeVar("Result")


def call_all(
    way: Way,
    requests: Sequence[Request],
    call: Callable[[Request], Result],
    batch: Callable[[Sequence[Request]], mf.BatchCall[Result]],
    bulk: Callable[[Sequence[Request]], list[mf.Outcome[Result]]],
) -> list[Result]:
    """The results of all requests, in order. Raises the first failure."""
    if way == Way.message_batch:
        return [outcome.value() for outcome in batch(requests).results()]
    if way == Way.application_batch:
        results: list[Result] = []
        for first in range(0, len(requests), APPLICATION_BATCH):
            results += [outcome.value() for outcome in bulk(requests[first : first + APPLICATION_BATCH])]
        return results
    return [call(request) for request in requests]
