"""How outcomes of calls are shown, also those of peers that are newer."""

from types import SimpleNamespace
from typing import Any

import pytest

import mf
from mf_tools.tapping import Seen


@pytest.mark.parametrize(
    ("code", "shown"),
    [(0, "OK"), (mf.Code.UNAVAILABLE.value, "UNAVAILABLE"), (200, "200")],
)
def test_a_code_that_this_version_does_not_know_is_shown_as_its_number(code: int, shown: str) -> None:
    call: Any = SimpleNamespace(code=code)

    assert Seen("tcp://127.0.0.1:1", call, None, "", "").code == shown
