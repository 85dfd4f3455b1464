"""Counts what calls cost on the wire, from the codecs and the frame's layout (docs/protocol.md, section 1).

The runtime is not asked: what is measured must not count itself. TCP's own headers, handshakes and the frames
that bind a service are not counted. Encodes everything once more, so count when no clock runs.
"""

from collections.abc import Sequence
from typing import Any

import mf
from testbed.document import Traffic


def _frame(payload: int, count: int) -> int:
    header = 16 if count < 0xFFFF else 24
    return (header + payload + 7) // 8 * 8


def add_calls(
    total: Traffic,
    service: mf.ServiceInfo,
    method_name: str,
    requests: Sequence[Any],
    results: Sequence[Any],
    per_message: int,
) -> None:
    """Adds calls of one method that all ended with a result, so many to a message."""
    method = next(method for method in service.methods if method.name == method_name)
    for first in range(0, len(requests), per_message):
        asked, answered = requests[first : first + per_message], results[first : first + per_message]
        total.calls += len(asked)
        total.messages += 1
        total.sent += _frame(len(method.encode_requests(asked)), len(asked))
        total.received += _frame(len(method.encode_results(answered)), len(asked))
