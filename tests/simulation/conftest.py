"""The Python stubs of what the simulation calls; and its long runs, which are for `make soak` alone."""

from pathlib import Path

import pytest

from tests.simulation.python_side import HERE, generate_stubs


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulation")
    generate_stubs(HERE / "simulation.mfidl", folder)
    return folder


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "soak" in config.option.markexpr:
        return
    long = [each for each in items if each.get_closest_marker("soak")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [each for each in items if each not in long]
