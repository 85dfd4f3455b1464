"""R6. The controller as clients and servers see it: where services are, and how to be found."""

from mf.controller.registrar import ControllerRegistrar
from mf.controller.resolver import ControllerResolver

__all__ = ["ControllerRegistrar", "ControllerResolver"]
