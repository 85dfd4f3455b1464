"""A method to be called, found by its name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from mf_tools.connect import Place
from mf_tools.guard import USAGE, CommandError
from mf_tools.registry import full_name, hinting

if TYPE_CHECKING:
    import mf
    from mf.client import Target
    from mf.described import DescribedMethod, Service


_DESCRIBED_WITHIN = 10.0


@dataclass(slots=True)
class Called:
    client: mf.Client
    service: Service
    method: DescribedMethod

    def target(self, agents: tuple[str, ...] = ()) -> Target:
        """At the agent, or at any."""
        base = self.service.target(self.client)
        if agents and self.service.info.agent is None:
            raise CommandError(f"{self.service.name} has no agents: leave --at out", USAGE)
        return base.at(self.service.agent(agents[0])) if agents else base.any()

    def example(self) -> str:
        from mf import described

        made = described.example(self.service.schema, self.method.params)
        return json.dumps(made, ensure_ascii=False)

    def shown(self, agent: str) -> str:
        """A member of an enum by its name."""
        names = {self.service.agent(name): name for name in self._members()}
        return names.get(agent, agent)

    def _members(self) -> list[str]:
        from mf.described import Named

        per = self.service.schema.per
        if per is None or not isinstance(per[1], Named):
            return []
        return [*self.service.schema.types[per[1].name].numbers]


def split(method: str) -> tuple[str, str]:
    service, dot, name = method.rpartition(".")
    if not dot or not service or not name:
        raise CommandError(f"'{method}' is no method: give SERVICE.METHOD, as sf1.search.Index.query", USAGE)
    return service, name


def prepared(place: Place, client: mf.Client, service: str, name: str, agent: str | None) -> Called:
    """Asks a server what it says of the service."""
    from mf import described

    whole = full_name(place, service, "service")
    with hinting(place, whole, "service"):
        found = described.Service(client.describe(whole, deadline=_DESCRIBED_WITHIN))
    if agent is not None and found.info.agent is None:
        raise CommandError(f"{whole} has no agents: leave --at out", USAGE)
    method = found.methods.get(name)
    if method is None:
        near = get_close_matches(name, found.methods, 1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(found.methods) or 'none'}"
        raise CommandError(f"{whole} has no method {name}; {hint}", USAGE)
    return Called(client, found, method)
