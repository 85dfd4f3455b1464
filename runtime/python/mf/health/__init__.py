"""R6. The health service that every server has (runtime/idl/mf/health.mfidl, docs/observability.md), for
those that ask:

    with mf.Client("tcp://10.0.0.7:7401") as client:
        report = mf.health.HealthClient(client).check("")
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mf.health._generated.mf.health import HealthAsyncClient as HealthAsyncClient
    from mf.health._generated.mf.health import HealthClient as HealthClient
    from mf.health._generated.mf.health import Report as Report
    from mf.health._generated.mf.health import State as State

__all__ = ["HealthAsyncClient", "HealthClient", "Report", "State"]

if not TYPE_CHECKING:

    def __getattr__(name):
        """Imports what is named: servers import a module of this package alone."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from mf.health._generated.mf import health

        return getattr(health, name)
