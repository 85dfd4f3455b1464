"""What a controller is sent next, after it has refused something."""

from mf.controller._generated.mf.controller import Key, KeyKind, Offer
from mf.controller.told import REFUSED_AGAIN, Told
from mf.core.error import Code


def offer(agent: str, weight: int = 1) -> Offer:
    return Offer(key=Key(KeyKind.service, "demo.Echo", agent), weight=weight)


def test_what_has_changed_is_told_once_it_was_not_accepted_before() -> None:
    told = Told([offer("a"), offer("b")])
    now = [offer("a", 2), offer("c")]
    assert told.changes(now, 0.0) == ([offer("a", 2), offer("c")], [offer("b").key])
    assert told.changes(now, 0.0) == ([offer("a", 2), offer("c")], [offer("b").key])
    told.accept(*told.changes(now, 0.0))
    assert told.changes(now, 0.0) == ([], [])


def test_what_there_was_no_room_for_is_offered_again_later() -> None:
    told = Told([])
    put, _ = told.changes([offer("a"), offer("b")], 0.0)
    assert told.refuse(put, Code.OVERLOADED, 0.0) == put
    assert told.changes([offer("a"), offer("b"), offer("c")], 1.0) == ([offer("c")], [])
    assert told.again == REFUSED_AGAIN
    assert told.changes([offer("a"), offer("b")], REFUSED_AGAIN) == (put, [])
    assert told.refuse(put, Code.OVERLOADED, REFUSED_AGAIN) == [], "it is no news"


def test_of_several_the_one_that_no_controller_takes_is_found() -> None:
    told, wanted = Told([]), [offer("a"), offer("bad"), offer("c")]
    told.refuse(told.changes(wanted, 0.0)[0], Code.INVALID_ARGUMENT, 0.0)
    tried: list[str] = []
    while put := told.changes(wanted, 0.0)[0]:
        tried += [each.key.agent for each in put]
        if put == [offer("bad")]:
            told.refuse(put, Code.INVALID_ARGUMENT, 0.0)
        else:
            told.accept(put, [])
    assert tried == ["a", "bad", "c"]
    wanted[1] = offer("bad", 7)
    assert told.changes(wanted, 0.0)[0] == [offer("bad", 7)], "it has changed"


def test_what_is_not_wanted_any_more_is_removed_although_others_are_refused() -> None:
    told = Told([offer("a")])
    put, removed = told.changes([offer("b")], 0.0)
    told.refuse(put, Code.OVERLOADED, 0.0)
    assert removed == [offer("a").key]
    assert told.changes([offer("b")], 1.0) == ([], removed)
