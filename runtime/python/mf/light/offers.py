"""R5. What a Light offers: servants by (service, agent)."""

from mf.core.agent import Agent
from mf.core.agent_names import shown_agent, text_of_agent
from mf.core.error import Code, not_executed, shortened, some_of
from mf.core.offered import offered_agent
from mf.core.service import BaseServant, ServiceInfo, generated_base, services_of


class LightOffers:
    """Any number of threads may ask."""

    __slots__ = ("_offers",)

    def __init__(self) -> None:
        self._offers: dict[str, dict[str, BaseServant]] = {}

    def add(self, servant: BaseServant, agent: Agent | None) -> None:
        """Raises ValueError if the offer does not fit the service, TypeError for what is no agent."""
        service = generated_base(servant).mf_service
        text = offered_agent(service, agent)
        for each in services_of(servant):
            self._offers.setdefault(each.name, {})[text] = servant

    def remove(self, service: ServiceInfo, agent: Agent) -> None:
        """As all that its servant serves."""
        text = text_of_agent(service, agent)
        servant = self._offers.get(service.name, {}).pop(text, None)
        for each in services_of(servant) if servant is not None else ():
            if self._offers.get(each.name, {}).get(text) is servant:
                del self._offers[each.name][text]

    def agents(self, service: ServiceInfo) -> list[str]:
        return list(self._offers.get(service.name, ()))

    def find(self, service: ServiceInfo, agent: str | None) -> tuple[str, BaseServant]:
        """The agent, and its servant. Raises Error(UNKNOWN_SERVICE) or Error(UNKNOWN_AGENT), NOT_EXECUTED,
        as a server does.
        """
        agents = self._offers.get(service.name)
        if not agents:
            offered = some_of([name for name, offers in self._offers.items() if offers]) or "nothing"
            text = f"nothing in this process offers {service.name}; it offers {offered}"
            raise not_executed(Code.UNKNOWN_SERVICE, text)
        if not agent:
            return next(iter(agents.items()))
        servant = agents.get(agent)
        if servant is None:
            asked = shortened(shown_agent(service, agent))
            text = f'nothing in this process offers {service.name} for agent "{asked}"'
            known = [shown_agent(service, each) for each in agents]
            raise not_executed(Code.UNKNOWN_AGENT, f"{text}; known agents: " + some_of(known, mark='"'))
        return agent, servant
