"""R6. The parts of clients and servers that talk to a controller: looking up services, and registering."""

from mf.controller.registrar import ControllerRegistrar
from mf.controller.resolver import ControllerResolver

__all__ = ["ControllerRegistrar", "ControllerResolver"]
