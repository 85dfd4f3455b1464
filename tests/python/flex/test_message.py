"""Messages as receivers hold them."""

import numpy as np
import pytest

from mf.flex.message import Message, attributes

SENT = Message("A", "B", {"tag": "input", "data": [1, 2, 3]})


def test_attributes_are_reached_by_dot_and_by_key() -> None:
    assert (SENT.tag, SENT["data"], SENT.src, SENT.dest) == ("input", [1, 2, 3], "A", "B")


def test_a_message_can_be_gone_through() -> None:
    assert list(SENT) == ["src", "dest", "tag", "data"]
    assert "tag" in SENT
    assert "src" in SENT
    assert "other" not in SENT
    assert attributes(SENT) == {"tag": "input", "data": [1, 2, 3]}


def test_an_empty_message_is_one() -> None:
    empty = Message("A", "B", {})
    assert len(empty) == 0
    assert empty
    assert attributes(empty) == {}


def test_a_missing_attribute_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'dta', but 'data': mf\.flex\.Message\(src='A'"):
        _ = SENT.dta
    with pytest.raises(KeyError, match="no attribute 'zzzz'"):
        _ = SENT["zzzz"]


def test_names_of_attributes_that_dicts_have_as_functions_are_free() -> None:
    message = Message("A", "B", {"keys": 1, "get": 2, "items": 3, "values": 4})
    assert (message.keys, message.get, message.items, message.values) == (1, 2, 3, 4)


def test_its_text_shows_what_is_in_it_and_stays_short() -> None:
    message = Message("A", "B", {"x": np.zeros((2, 3)), "long": "y" * 1000, "many": list(range(100))})
    shown = repr(message)
    assert "x=<array float64 2x3>" in shown
    assert "(1,000)" in shown
    assert "many=<list of 100>" in shown
    assert len(shown) < 300


def test_completion_offers_attributes() -> None:
    assert dir(SENT) == ["data", "dest", "src", "tag"]


def test_a_message_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        setattr(SENT, "tag", "other")  # noqa: B010 - checkers would refuse it
