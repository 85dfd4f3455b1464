"""R6. The service by which operators steer a server (runtime/idl/mf/admin.mfidl, docs/operations.md), for
those that ask:

    with mf.Client("tcp://10.0.0.7:7401") as client:
        mf.admin.AdminClient(client).drain()
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mf.admin._generated.mf.admin import MOST_VALUE as MOST_VALUE
    from mf.admin._generated.mf.admin import AdminAsyncClient as AdminAsyncClient
    from mf.admin._generated.mf.admin import AdminClient as AdminClient
    from mf.admin._generated.mf.admin import Filter as Filter
    from mf.admin._generated.mf.admin import Forwarded as Forwarded
    from mf.admin._generated.mf.admin import Level as Level
    from mf.admin._generated.mf.admin import Outcome as Outcome
    from mf.admin._generated.mf.admin import Tapped as Tapped

__all__ = [
    "MOST_VALUE",
    "AdminAsyncClient",
    "AdminClient",
    "Filter",
    "Forwarded",
    "Level",
    "Outcome",
    "Tapped",
]

if not TYPE_CHECKING:

    def __getattr__(name):
        """Imports what is named: servers import a module of this package alone."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from mf.admin._generated.mf import admin

        return getattr(admin, name)
