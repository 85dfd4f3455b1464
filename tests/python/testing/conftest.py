"""The fixtures under test, whether or not the runtime of this tree is the one that is installed."""

from mf.testing.pytest_plugin import mf_clock, mf_controller, mf_network, mf_recorder, mf_run

__all__ = ["mf_clock", "mf_controller", "mf_network", "mf_recorder", "mf_run"]
