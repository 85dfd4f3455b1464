"""What is said of sessions holds for both ways in which they cut and make frames."""

from collections.abc import Iterator

import pytest

from tests.python.native.plans import sessions_use


@pytest.fixture(params=["pure", "native"], autouse=True, scope="module")
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    with sessions_use(request.param):
        yield request.param
