"""Flexible messages: named attributes sent between named processes, without a schema (docs/flexible.md).

    from mf import flex

    with flex.Node("mf://localhost:7400") as node:
        a = node.process("A")
        a.send(dest="B", tag="input", data=[1, 2, 3])
        m = a.recv(5.0, src="B", tag=lambda t: t in (23, 42))
        print(m.src, m.data)

The names in `__all__` are the public interface.
"""

from mf.codec.flex.declared import Typed, know
from mf.flex.callbacks import Registered
from mf.flex.errors import NoMessage, Undelivered
from mf.flex.mailbox import Mailbox
from mf.flex.message import Message, attributes
from mf.flex.node import AsyncNode, Node
from mf.flex.pattern import ANY
from mf.flex.process import Process
from mf.flex.sent import Sent, WhenFull

BLOCK = WhenFull.BLOCK
FAIL = WhenFull.FAIL
DROP = WhenFull.DROP

__all__ = [
    "ANY",
    "BLOCK",
    "DROP",
    "FAIL",
    "AsyncNode",
    "Mailbox",
    "Message",
    "NoMessage",
    "Node",
    "Process",
    "Registered",
    "Sent",
    "Typed",
    "Undelivered",
    "WhenFull",
    "attributes",
    "know",
]
