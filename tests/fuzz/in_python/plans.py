"""Two descriptors with their annexes, zeros between them: any texts are refused in words, or make a plan, and
what the plan says can be called can be made.
"""

from mf.core.service import ServiceInfo
from mf.evolution.plan import plan
from mf.evolution.reading import read
from mf.evolution.rules import Verdict
from mf.evolution.schema import Schema
from mf.evolution.types import SchemaError, building
from mf.protocol.adapted import Adaptation, Adapted, adaptation
from tests.fuzz.in_python.harness import Target
from tests.fuzz.in_python.schemas import joined, pairs

WORDS = tuple(
    word.encode()
    for word in (
        *("service ", "topic ", "value ", " method ", "  params ", "  results ", "   ", "  throws "),
        *(
            "type ",
            " struct ",
            " enum ",
            " union ",
            " flags ",
            " error ",
            "memcpy",
            "febird",
            "archive",
            "custom",
        ),
        *(
            "bool",
            "u8",
            "i16",
            "u64",
            "f32",
            "f64",
            "string",
            "bytes",
            "timestamp",
            "duration",
            "uuid",
            ".fixed",
        ),
        *(
            "list<",
            "set<",
            "map<",
            "array<",
            "ref<",
            ">",
            ",",
            "?",
            "4294967295",
            "0",
            "-1",
            "1: ",
            "\n",
            "\0",
        ),
        *(
            "  default ",
            "  was ",
            " was ",
            " open",
            " oneway",
            " replicated ",
            " stream ",
            " per ",
            "evolving.Evolving",
        ),
    )
)


def seeds() -> list[bytes]:
    return [joined(each.ours, each.theirs) for each in pairs()]


def refusal(data: bytes) -> str:
    try:
        texts = [part.decode() for part in data.split(b"\0")]
    except UnicodeDecodeError:
        return "no text"
    texts += [""] * (4 - len(texts))
    try:
        with building():
            ours, theirs = read(texts[0], texts[1]), read(texts[2], texts[3])
            return _planned(ours, theirs)
    except SchemaError as wrong:
        assert str(wrong)
        return str(wrong)


def _planned(ours: Schema, theirs: Schema) -> str:
    same = plan(ours, ours)
    assert same.reason is None
    assert {each.verdict for each in same.methods} <= {Verdict.EQUAL}
    service = ServiceInfo(name=ours.name, agent=None, descriptor="", fingerprint=ours.fingerprint, methods=())
    made = adaptation(service, ours, theirs)
    refusals = []
    if isinstance(made, Adaptation):
        for index in range(len(ours.methods)):
            found = made._find(index)
            if not isinstance(found, Adapted):
                assert found.message
                refusals.append(found.message)
    return "; ".join(refusals)


TARGET = Target("plans", seeds, refusal, WORDS, cost=2)
