"""R5. What a Light offers: servants by (service, agent)."""

from typing import Any, NamedTuple

from mf.core.agent import Agent
from mf.core.agent_names import shown_agent, text_of_agent
from mf.core.error import Code, not_executed, shortened, some_of
from mf.core.intercepted_servant import InterceptedServant
from mf.core.intercepting import Interceptors
from mf.core.interceptor import Interceptor
from mf.core.offered import offered_agent
from mf.core.service import AsyncServant, BaseServant, ServiceInfo, generated_base, is_async, services_of


class LightOffers:
    """Any number of threads may ask."""

    __slots__ = ("_interceptors", "_offers")

    def __init__(self, interceptors: tuple[Interceptor, ...] = ()) -> None:
        self._offers: dict[str, dict[str, _Offered]] = {}
        self._interceptors = interceptors

    def _offered(self, servant: BaseServant) -> "_Offered":
        if not self._interceptors:
            return _Offered(servant, servant)
        awaits = [is_async(getattr(servant, each.attribute, None)) for each in servant.mf_service.methods]
        is_for_tasks = isinstance(servant, AsyncServant)
        interceptors = Interceptors(
            self._interceptors, blocks=not (is_for_tasks or all(awaits)), awaits=is_for_tasks or any(awaits)
        )
        return _Offered(servant, InterceptedServant(interceptors, servant))

    def add(self, servant: BaseServant, agent: Agent | None) -> None:
        """Raises ValueError if the offer does not fit the service, TypeError for what is no agent."""
        service = generated_base(servant).mf_service
        text = offered_agent(service, agent)
        offered = self._offered(servant)
        for each in services_of(servant):
            self._offers.setdefault(each.name, {})[text] = offered

    def remove(self, service: ServiceInfo, agent: Agent) -> None:
        """As all that its servant serves."""
        text = text_of_agent(service, agent)
        offered = self._offers.get(service.name, {}).pop(text, None)
        for each in services_of(offered.servant) if offered is not None else ():
            if self._offers.get(each.name, {}).get(text) is offered:
                del self._offers[each.name][text]

    def agents(self, service: ServiceInfo) -> list[str]:
        return list(self._offers.get(service.name, ()))

    def find(self, service: ServiceInfo, agent: str | None) -> tuple[str, Any]:
        """The agent, and the functions to call. Raises Error(UNKNOWN_SERVICE) or Error(UNKNOWN_AGENT),
        NOT_EXECUTED, as a server does.
        """
        agents = self._offers.get(service.name)
        if not agents:
            offered = some_of([name for name, offers in self._offers.items() if offers]) or "nothing"
            text = f"nothing in this process offers {service.name}; it offers {offered}"
            raise not_executed(Code.UNKNOWN_SERVICE, text)
        if not agent:
            text, first = next(iter(agents.items()))
            return text, first.called
        offered_here = agents.get(agent)
        if offered_here is None:
            asked = shortened(shown_agent(service, agent))
            text = f'nothing in this process offers {service.name} for agent "{asked}"'
            known = [shown_agent(service, each) for each in agents]
            raise not_executed(Code.UNKNOWN_AGENT, f"{text}; known agents: " + some_of(known, mark='"'))
        return agent, offered_here.called


class _Offered(NamedTuple):
    """`called` has its functions: the servant itself, unless there are interceptors."""

    servant: BaseServant
    called: Any
