"""R7. The parts of clients and servers that talk to a controller: looking up services, and registering.

Public, for tools (docs/api.md, "Asking a controller"):

    where = mf.controller.servers_of("mf://localhost:7400")       # 'tcp://localhost:7400'
    entries = list(mf.controller.ControllerClient(mf.Client(where)).list())
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mf.controller._generated.mf.controller import Change as Change
    from mf.controller._generated.mf.controller import ControllerAsyncClient as ControllerAsyncClient
    from mf.controller._generated.mf.controller import ControllerClient as ControllerClient
    from mf.controller._generated.mf.controller import Entry as Entry
    from mf.controller._generated.mf.controller import Filter as Filter
    from mf.controller._generated.mf.controller import Found as Found
    from mf.controller._generated.mf.controller import Instance as Instance
    from mf.controller._generated.mf.controller import Key as Key
    from mf.controller._generated.mf.controller import KeyKind as KeyKind
    from mf.controller._generated.mf.controller import Offer as Offer
    from mf.controller._generated.mf.controller import Status as Status
    from mf.controller.addresses import servers_of as servers_of

__all__ = [
    "Change",
    "ControllerAsyncClient",
    "ControllerClient",
    "Entry",
    "Filter",
    "Found",
    "Instance",
    "Key",
    "KeyKind",
    "Offer",
    "Status",
    "servers_of",
]

if not TYPE_CHECKING:

    def __getattr__(name):
        """Imports what is named: the other parts of the runtime import modules of this package alone."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        home = "mf.controller.addresses" if name == "servers_of" else "mf.controller._generated.mf.controller"
        return getattr(import_module(home), name)
