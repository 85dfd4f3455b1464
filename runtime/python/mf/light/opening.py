"""R5. A light call with streams that is still to be made: at once, or when its first value is asked for."""

from typing import Any

from mf.core.options import CallOptions
from mf.core.service import Method, ServiceInfo, is_async
from mf.light.call import LightCall
from mf.light.checks import check_arguments
from mf.light.offers import LightOffers


class Opening:
    """`begin` makes the call; then `call` is there, and `handler(…)` calls the handler with its streams."""

    __slots__ = (
        "_arguments",
        "_function",
        "_offers",
        "_options",
        "_place",
        "call",
        "is_async",
        "method",
    )

    call: LightCall

    def __init__(
        self,
        offers: LightOffers,
        place: tuple[ServiceInfo, str | None, tuple[str, ...]],
        method: Method[Any, Any],
        options: CallOptions | None,
        arguments: tuple[Any, ...],
    ) -> None:
        self._offers = offers
        self._place = place
        self._arguments = arguments
        self._function: Any = None
        self.method = method
        self._options = options
        self.is_async = False

    def begin(self) -> LightCall:
        """Raises Error, NOT_EXECUTED, as for every call."""
        service, name, keys = self._place
        agent, servant = self._offers.find(service, name)
        self.call = LightCall(service, agent, self.method, self._options, keys)
        check_arguments(self.method, self._arguments)
        self._function = getattr(servant, self.method.attribute)
        self.is_async = is_async(self._function)
        return self.call

    def handler(self, *streams: Any) -> Any:
        return self._function(*self._arguments, *streams)
