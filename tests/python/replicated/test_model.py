"""How the flows compare on a link of 200 us and 1 Gb/s, with 64 messages of 10,000 bytes under way. This is
exact, since it is computed in virtual time.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from mf.replicated.messages import Pattern

PATH = Path(__file__).parents[3] / "bench/patterns/model.py"  # the benches are no package of the tests


@pytest.fixture(scope="module")
def model() -> Any:
    spec = spec_from_file_location("patterns_model", PATH)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("pattern", "times"), [(Pattern.one_hop_ack_client, 1.4), (Pattern.chain, 2.8)], ids=["one hop", "chain"]
)
def test_passing_a_message_on_beats_sending_it_to_all(model: Any, pattern: Pattern, times: float) -> None:
    base, passed_on = (
        model.Model(model.Link(200e-6, 1e9)).seconds(each, 10_000, 64, 500)
        for each in (Pattern.no_versioning, pattern)
    )

    assert base / passed_on > times
