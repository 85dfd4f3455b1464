"""What a controller is sent next, after it has refused something."""

from mf.controller._generated.mf.controller import Key, KeyKind, Offer
from mf.controller.known_offers import REFUSED_AGAIN, KnownOffers
from mf.core.error import Code


def offer(agent: str, weight: int = 1) -> Offer:
    return Offer(key=Key(KeyKind.service, "demo.Echo", agent), weight=weight)


def test_what_has_changed_is_told_once_it_was_not_accepted_before() -> None:
    known = KnownOffers([offer("a"), offer("b")])
    now = [offer("a", 2), offer("c")]
    assert known.changes(now, 0.0) == ([offer("a", 2), offer("c")], [offer("b").key])
    assert known.changes(now, 0.0) == ([offer("a", 2), offer("c")], [offer("b").key])
    known.accept(*known.changes(now, 0.0))
    assert known.changes(now, 0.0) == ([], [])


def test_what_there_was_no_room_for_is_offered_again_later() -> None:
    known = KnownOffers([])
    put, _ = known.changes([offer("a"), offer("b")], 0.0)
    assert known.refuse(put, Code.OVERLOADED, 0.0) == put
    assert known.changes([offer("a"), offer("b"), offer("c")], 1.0) == ([offer("c")], [])
    assert known.again == REFUSED_AGAIN
    assert known.changes([offer("a"), offer("b")], REFUSED_AGAIN) == (put, [])
    assert known.refuse(put, Code.OVERLOADED, REFUSED_AGAIN) == [], "it is no news"


def test_of_several_the_one_that_no_controller_takes_is_found() -> None:
    known, wanted = KnownOffers([]), [offer("a"), offer("bad"), offer("c")]
    known.refuse(known.changes(wanted, 0.0)[0], Code.INVALID_ARGUMENT, 0.0)
    tried: list[str] = []
    while put := known.changes(wanted, 0.0)[0]:
        tried += [each.key.agent for each in put]
        if put == [offer("bad")]:
            known.refuse(put, Code.INVALID_ARGUMENT, 0.0)
        else:
            known.accept(put, [])
    assert tried == ["a", "bad", "c"]
    wanted[1] = offer("bad", 7)
    assert known.changes(wanted, 0.0)[0] == [offer("bad", 7)], "it has changed"


def test_what_is_not_wanted_any_more_is_removed_although_others_are_refused() -> None:
    known = KnownOffers([offer("a")])
    put, removed = known.changes([offer("b")], 0.0)
    known.refuse(put, Code.OVERLOADED, 0.0)
    assert removed == [offer("a").key]
    assert known.changes([offer("b")], 1.0) == ([], removed)
