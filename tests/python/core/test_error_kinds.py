"""An mf.Error is of the class of its code, and some of these are of Python's own kinds."""

import copy
import pickle
from typing import Any

import pytest

import mf
from mf.core.error import cancelled_by_caller, not_executed

WITHOUT = {mf.Code.OK, mf.Code.DECLARED, mf.Code.DECODE_ERROR}


@pytest.mark.parametrize("code", [each for each in mf.Code if each not in WITHOUT])
def test_an_error_is_of_the_class_of_its_code(code: mf.Code) -> None:
    name = "".join(word.capitalize() for word in code.name.split("_"))
    made = mf.Error(code, "why", mf.Execution.NOT_EXECUTED)

    assert type(made) is getattr(mf, name)
    assert (made.code, made.message, made.execution) == (code, "why", mf.Execution.NOT_EXECUTED)
    assert made.args == (code, "why", mf.Execution.NOT_EXECUTED)
    assert str(made) == f"{code.name}: why (not executed)"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (mf.Code.DEADLINE_EXCEEDED, TimeoutError),
        (mf.Code.UNAVAILABLE, ConnectionError),
        (mf.Code.CONNECTION_LOST, ConnectionError),
        (mf.Code.PERMISSION_DENIED, PermissionError),
        (mf.Code.UNAUTHENTICATED, PermissionError),
    ],
)
def test_some_are_of_the_kinds_that_python_raises(code: mf.Code, kind: type[OSError]) -> None:
    with pytest.raises(kind) as caught:
        raise mf.Error(code, "why")
    assert isinstance(caught.value, mf.Error)
    assert caught.value.errno is None
    assert caught.value.filename is None


@pytest.mark.parametrize("code", sorted(WITHOUT))
def test_the_others_are_errors_alone(code: mf.Code) -> None:
    assert type(mf.Error(code)) is mf.Error


def test_an_error_of_its_own_kind_keeps_its_class() -> None:
    assert type(mf.DecodeError(mf.Fault.TRUNCATED, "why", offset=3)) is mf.DecodeError


@pytest.mark.parametrize("error", [cancelled_by_caller(), not_executed(mf.Code.UNAVAILABLE, "why")])
def test_it_is_copied_and_pickled(error: mf.Error) -> None:
    for each in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(each) is type(error)
        assert (each.code, each.message, each.execution) == (error.code, error.message, error.execution)
        assert str(each) == str(error)


@pytest.mark.parametrize("code", ["it is loading", 11, None])
def test_a_code_that_is_none_is_named(code: Any) -> None:
    for kind in (mf.Error, mf.Unavailable):
        with pytest.raises(TypeError, match=r"the code of an error is a \w+: give one of mf.Code"):
            kind(code)


def test_a_class_of_another_code_is_refused() -> None:
    with pytest.raises(ValueError, match="Unavailable is not the class of INTERNAL, which"):
        mf.Unavailable(mf.Code.INTERNAL, "why")
    assert type(mf.Unavailable(mf.Code.UNAVAILABLE, "why")) is mf.Unavailable

    class Undelivered(mf.Error):
        """A derived class has the codes that it likes."""

    assert Undelivered(mf.Code.UNAVAILABLE, "why").code is mf.Code.UNAVAILABLE
