"""Rules that the table of changes has no schemas for: custom types, agents, topics, and services that cannot
be used at all. By descriptors alone.
"""

import pytest

from mf.core.error import Error
from mf.core.service import FEBIRD, ServiceInfo
from mf.evolution.plan import Plan, plan
from mf.evolution.reading import read
from mf.evolution.rules import Verdict
from mf.protocol.adapted import Adaptation, Adapted, adaptation

SERVICE = """\
service a.S
 method f
  params febird
   v {type}
  results memcpy
"""
CUSTOM = "type a.Geo struct custom\n"


def planned(ours: str, theirs: str) -> Plan:
    return plan(read(ours), read(theirs))


def with_field(type_: str, declared: str, more: str = "") -> str:
    return SERVICE.format(type="a.T") + declared + f"type a.T struct febird\n g {type_}\n{more}"


GEO = with_field("a.Geo", CUSTOM)


def test_bytes_of_a_custom_type_are_handed_over_unread() -> None:
    ours = with_field("a.Geo", CUSTOM)
    theirs = with_field("a.Geo", CUSTOM, " n u8?\n")
    service = ServiceInfo(name="a.S", agent=None, descriptor=ours, fingerprint=b"", methods=())
    found = adaptation(service, read(ours), read(theirs))
    assert isinstance(found, Adaptation)
    adapted = found._find(0)
    assert isinstance(adapted, Adapted)
    assert adapted.request(FEBIRD, 1, b"\3abc") == (FEBIRD, b"\3abc\0")


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (GEO, with_field("b.Geo", "type b.Geo struct custom\n"), "type Geo: a.Geo here, b.Geo there"),
        (GEO, with_field("a.Geo", "type a.Geo struct memcpy\n"), "type Geo: custom here, struct there"),
        (GEO, with_field("bytes", ""), "field T.g: Geo here, bytes there"),
    ],
)
def test_a_custom_type_is_only_itself(ours: str, theirs: str, words: str) -> None:
    [method] = planned(ours, theirs).methods
    assert (method.verdict, method.reason) == (Verdict.REFUSED, f"S.f: {words}")


def per(agent: str, declared: str = "") -> str:
    return f"service a.S\n per {agent}\n{declared}"


ENUM = "type a.E enum u8 closed\n x 1\n"
MOVED = ENUM.replace("x 1", "x 2")


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        (per("c string"), per("d string"), None),
        (per("c string"), per("c u32"), "S: per c string here, per c u32 there"),
        (per("c u16"), per("c u32"), "S: per c u16 here, per c u32 there"),
        (per("c a.E", ENUM), per("c a.E", ENUM + " y 2\n"), None),
        (
            per("c a.E", ENUM),
            per("c a.E", "type a.E enum u8 closed\n x 2\n"),
            "S: per c E here, per c E there",
        ),
        (per("c a.E", ENUM), "service a.S\n", "S: per c E here, per nothing there"),
        ("service a.S\n", "topic a.S\n value a.T\ntype a.T struct memcpy\n", "S: service here, topic there"),
    ],
)
def test_a_service_with_other_agents_cannot_be_used_at_all(
    ours: str, theirs: str, reason: str | None
) -> None:
    assert planned(ours, theirs).reason == reason


def topic(fields: str) -> str:
    return f"topic a.S\n value a.T\ntype a.T struct febird\n{fields}"


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "reason"),
    [
        (topic(" x u8\n"), topic(" x u8\n"), Verdict.EQUAL, None),
        (topic(" x u8\n"), topic(" y u8\n x u8\n"), Verdict.ADAPTS, None),
        (topic(" x u8\n"), topic(" x u16\n"), Verdict.CHECKED, None),
        (topic(" y u8\n"), topic(" x u8\n"), Verdict.REFUSED, "S: field T.y: only here, and has no default"),
    ],
)
def test_a_topic_is_read_as_its_value_allows(
    ours: str, theirs: str, verdict: Verdict, reason: str | None
) -> None:
    made = planned(ours, theirs)
    assert made.value is not None
    assert (made.value.verdict, made.reason) == (verdict, reason)


def test_replicated_methods_must_follow_one_pattern() -> None:
    ours = SERVICE.format(type="u8")
    theirs = ours.replace(" method f\n", " method f\n  replicated one_hop\n")
    assert planned(ours, theirs).methods[0].reason == "S.f: not replicated here, replicated one_hop there"


def test_a_provider_with_many_types_that_hold_each_other_is_planned_in_bounded_steps() -> None:
    """The consumer's one type is paired with each of the provider's: as many pairs, each looked at once."""
    count = 4000
    chain = "".join(
        f"type a.T{n:04} struct archive\n next 1: list<a.T{(n + 1) % count:04}>\n" for n in range(count)
    )
    ours = SERVICE.format(type="a.T") + "type a.T struct archive\n next 1: list<a.T>\n"
    made = planned(ours, SERVICE.format(type="a.T0000") + chain)
    [method] = made.methods
    assert method.verdict is Verdict.EQUAL
    assert len(method.params.pairs) == count


def test_a_provider_whose_types_are_nested_beyond_what_can_be_made_is_refused_in_words() -> None:
    count = 4000
    chain = "".join(
        f"type a.T{n:04} struct febird\n next list<a.T{n + 1:04}>\n y u8?\n" for n in range(count)
    )
    ours = SERVICE.format(type="a.T") + "type a.T struct febird\n next list<a.T>\n"
    last = f"type a.T{count:04} struct febird\n next list<a.T{count:04}>\n"
    service = ServiceInfo(name="a.S", agent=None, descriptor=ours, fingerprint=b"", methods=())
    theirs = SERVICE.format(type="a.T0000") + chain + last
    found = adaptation(service, read(ours), read(theirs))
    assert isinstance(found, Adaptation)
    refusal = found._find(0)
    assert isinstance(refusal, Error)
    assert refusal.message == "S.f: its types are nested too deep"
