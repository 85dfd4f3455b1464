"""Errors, outcomes and options describe themselves, and refuse invalid values."""

import pytest

import mf
from mf.core.error import Code, Error, Execution, cut, not_executed
from mf.core.log import quote
from mf.core.outcome import failure_in, failure_of
from tests.python.echo import Negative


def test_error_names_code_message_and_whether_it_ran() -> None:
    assert str(not_executed(Code.UNAVAILABLE, "nobody")) == "UNAVAILABLE: nobody (not executed)"
    assert str(Error(Code.INTERNAL)) == "INTERNAL (may have run)"


def test_codes_have_the_numbers_of_the_protocol() -> None:
    assert [code.value for code in Code] == list(range(20))
    assert (Code.HANDLER_FAILED, Code.SHUTTING_DOWN, Code.DECODE_ERROR) == (7, 18, 14)


def test_outcome_gives_its_value_or_raises_its_failure() -> None:
    failed: mf.Outcome[int] = mf.Outcome(error=Negative(-3))

    assert mf.Outcome(5).value() == 5
    assert not failed.ok
    with pytest.raises(Negative):
        failed.value()


def test_outcomes_compare_by_what_they_hold() -> None:
    assert mf.Outcome(5) == mf.Outcome(5)
    assert mf.Outcome(5) != mf.Outcome(6)
    assert mf.Outcome[int](error=not_executed(Code.UNAVAILABLE, "x")) == mf.Outcome[int](
        error=not_executed(Code.UNAVAILABLE, "x")
    )


def test_each_gives_an_outcome_per_item() -> None:
    def function(x: int) -> int:
        if x == 1:
            raise Negative(x)
        return 10 // x

    outcomes = mf.each(function, [(5,), (1,), (0,)])

    assert outcomes[0] == mf.Outcome(2)
    assert outcomes[1] == mf.Outcome(error=Negative(1))
    error = outcomes[2].error
    assert isinstance(error, Error)
    assert error.code == Code.HANDLER_FAILED
    assert "ZeroDivisionError" in error.message


def test_an_error_of_a_nested_call_does_not_pass_for_this_calls() -> None:
    told = failure_of(not_executed(Code.UNAVAILABLE, "elsewhere"), ())

    assert isinstance(told, Error)
    assert (told.code, told.execution) == (Code.HANDLER_FAILED, Execution.UNKNOWN)


def test_a_handler_that_has_begun_cannot_say_that_it_was_not_executed() -> None:
    busy = not_executed(Code.OVERLOADED, "busy")

    assert failure_in(busy, ()) is busy  # which a batch function said of an item of its own will
    for told in (failure_of(busy, ()), mf.each(_raises, [(busy,)])[0].error):
        assert isinstance(told, Error)
        assert (told.code, told.message, told.execution) == (Code.OVERLOADED, "busy", Execution.UNKNOWN)


def _raises(error: Exception) -> None:
    raise error


def test_a_failure_that_is_none_is_a_failed_handler() -> None:
    for code in (Code.OK, Code.DECLARED):
        told = failure_in(Error(code), ())
        assert isinstance(told, Error)
        assert told.code is Code.HANDLER_FAILED


def test_an_exception_without_a_text_is_a_failed_handler() -> None:
    class Mute(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise RuntimeError

    told = failure_of(Mute(), ())

    assert isinstance(told, Error)
    assert told.message.endswith("Mute")


def test_an_undeclared_error_is_a_failed_handler() -> None:
    told = failure_of(Negative(-1), ())

    assert isinstance(told, Error)
    assert told.code == Code.HANDLER_FAILED


def test_a_deadline_that_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match=r"mf\.INFINITE"):
        mf.CallOptions(deadline=float("nan"))


def test_batch_options_refuse_empty_messages_and_windows() -> None:
    with pytest.raises(ValueError, match="at least one call"):
        mf.BatchOptions(size=0)
    with pytest.raises(ValueError, match="at least one message"):
        mf.BatchOptions(window=0)


def test_messages_are_cut_at_a_character() -> None:
    assert cut("é" * 600) == ("é" * 512).encode()
    assert cut("a" + "é" * 600) == ("a" + "é" * 511).encode()


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\0b", b"\xff\xfe", "x" * 10_000])
def test_hostile_names_are_one_harmless_line(name: str | bytes) -> None:
    shown = quote(name)

    assert shown.isascii() or "…" in shown
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert len(shown) < 1000
