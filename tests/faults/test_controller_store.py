"""mf-controller is killed a thousand times while servers register; ctest does it fifty times."""

import os
import subprocess

import pytest

from tests.interop.peers import BUILD

KILLS_OF_A_SEED = 200  # there are five


@pytest.mark.soak
def test_a_controller_that_is_killed_a_thousand_times_has_lost_nothing() -> None:
    program = BUILD / "tests" / "cpp" / "app" / "mf_test_app"
    done = subprocess.run(
        [program, "--gtest_filter=*KilledController*"],
        env=os.environ | {"MF_KILLS": str(KILLS_OF_A_SEED)},
        capture_output=True,
        text=True,
        timeout=3600,
    )

    assert done.returncode == 0, done.stdout
    assert "[  PASSED  ] 5 tests." in done.stdout
