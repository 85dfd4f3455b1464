"""examples/11_upgrade under 1,000 calls a second, of which each client makes 3,500 between two steps, C++ and
Python mixed, straight and through relays. It takes minutes: `make test-system`.
"""

import pytest

from tests.examples.test_upgrade import upgraded


@pytest.mark.timeout(600)
@pytest.mark.parametrize("relays", ["0", "2"])
def test_no_call_of_tens_of_thousands_fails(relays: str) -> None:
    assert len(upgraded("mixed", "--rounds", "500", "--relays", relays, patience=580.0)) == 11
