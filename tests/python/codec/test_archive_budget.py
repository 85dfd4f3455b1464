"""What a reader takes out of the budget of decoded bytes for archives, charge by charge: above all,
for the unknown fields that it keeps. A row names all charges that its bytes make, in their order. A budget of
their sum is enough; one byte less than the first n of them is refused at the n-th, at its offset and path.
"""

import pytest

import mf
from mf.codec import sizes
from mf.codec.limits import Limits
from tests.python.codec.generated import codec_of

PLACE = 8  # of the value among those that are read
TEXT = 64  # of an empty one
OBJECT = 64  # of a graph, beside what it holds
KEPT = 200  # what keeps an object's unknown fields together with its graph

# Of number 31, which no schema has. Each row has a group: the generated functions take none, and by their
# own, rougher account they might accept what the careful reader refuses.
FIELD = "f801 05"
TEXT_FIELD = "fa01 03 616263"
GROUP = "fb01 0801 fc01"

Charge = tuple[int, str]


def of(name: str) -> int:
    """What a value takes when nothing in it was read."""
    return sizes.memory(codec_of("wide.mfidl", f"vectors.wide.{name}").shape)


def told(name: str, data: bytes, budget: int) -> str:
    codec = codec_of("wide.mfidl", f"vectors.wide.{name}").within(Limits(decoded=budget))
    try:
        codec.decode(data)
    except mf.DecodeError as refused:
        return f"{refused.fault.name} at {refused.offset} in {refused.path}"
    return "decoded"


@pytest.mark.parametrize(
    ("name", "data", "charges"),
    [
        pytest.param(
            "Person",
            f"0a0161 {GROUP}",
            [(of("Person"), "0 in Person"), (TEXT + 1, "2 in Person.name"), (6, "9 in Person")],
            id="a group",
        ),
        pytest.param(
            "Person",
            f"{FIELD} 0a0161 {GROUP} {TEXT_FIELD}",
            [
                (of("Person"), "0 in Person"),
                (3, "3 in Person"),
                (TEXT + 1, "5 in Person.name"),
                (6, "12 in Person"),
                (6, "18 in Person"),
            ],
            id="each with tag and length",
        ),
        pytest.param(
            "Person",
            f"0a0161 8201 0b 3209 0a0178 {GROUP}",
            [
                (of("Person"), "0 in Person"),
                (TEXT + 1, "2 in Person.name"),
                (of("Contact"), "6 in Person.contact"),
                (of("Person"), "8 in Person.contact.person"),
                (TEXT + 1, "10 in Person.contact.person.name"),
                (6, "17 in Person.contact.person"),
            ],
            id="of a message in a message",
        ),
        pytest.param(
            "Contact",
            f"3203 0a0178 3206 {GROUP} 3203 {FIELD}",
            [
                (of("Contact"), "0 in Contact"),
                (of("Person"), "2 in Contact.person"),
                (TEXT + 1, "4 in Contact.person.name"),
                (of("Person"), "7 in Contact.person"),
                (6, "13 in Contact.person"),
                (of("Person"), "15 in Contact.person"),
                (3, "18 in Contact.person"),
            ],
            id="of each part of a message",
        ),
        pytest.param(
            "Envelope",
            f"07 09 0a0161 {GROUP} 00 00 00 05",
            [
                (of("Envelope"), "0 in Envelope"),
                (of("Person"), "2 in Envelope.config"),
                (TEXT + 1, "4 in Envelope.config.name"),
                (6, "11 in Envelope.config"),
            ],
            id="of a message in another tier",
        ),
        pytest.param(
            "Contact",
            f"0a0161 {GROUP} {TEXT_FIELD}",
            [(of("Contact"), "0 in Contact"), (TEXT + 1, "2 in Contact.mail")],
            id="those of a union are dropped",
        ),
        pytest.param(
            "Node",
            f"{FIELD} 0a03 0a0161 {GROUP}",
            [
                (3, "3 in Node"),
                (6, "14 in Node"),
                (OBJECT + of("Node"), "14 in Node"),
                (TEXT + 1, "7 in Node.node[0].name"),
            ],
            id="of a graph",
        ),
        pytest.param(
            "Node",
            f"0a0c 0a0161 {FIELD} {GROUP}",
            [
                (OBJECT + of("Node"), "14 in Node"),
                (TEXT + 1, "4 in Node.node[0].name"),
                (3, "8 in Node.node[0]"),
                (6, "14 in Node.node[0]"),
                (KEPT, "14 in Node.node[0]"),
            ],
            id="of an object in a graph",
        ),
        pytest.param(
            "Atlas",
            f"0161 00 01 0b {GROUP} 0a03 0a0178",
            [
                (of("Atlas"), "0 in Atlas"),
                (TEXT + 1, "1 in Atlas.title"),
                (6, "11 in Atlas.node"),
                (OBJECT + of("Node"), "16 in Atlas.node"),
                (TEXT + 1, "15 in Atlas.node.node[0].name"),
            ],
            id="of a graph in another tier",
        ),
    ],
)
def test_unknown_fields_that_are_kept_are_charged(name: str, data: str, charges: list[Charge]) -> None:
    sent = bytes.fromhex(data)
    begins = f"0 in {name}"  # where no byte of the value was read yet
    total = 0
    for size, where in [(PLACE, begins), *charges]:
        total += size
        assert told(name, sent, total - 1) == f"BUDGET_EXCEEDED at {where}"
    assert told(name, sent, total) == "decoded"
