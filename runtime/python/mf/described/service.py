"""R8. A service as one of its servers describes it."""

from collections.abc import Mapping

from mf.adapt.made import Made
from mf.core.agent_names import shown_agent, text_of_agent
from mf.core.description import Description
from mf.core.service import ServiceInfo
from mf.core.target import AsyncTarget, AsyncTargetSource, Target, TargetSource, async_target_of, target_of
from mf.described.errors import made, schema_of
from mf.described.method import DescribedMethod
from mf.evolution.schema import Schema


class Service:
    """`methods` by name, in the order of their numbers. Raises Error(SCHEMA_MISMATCH) for a description that
    is none, or of a topic. A server that has another schema is called by the rules of docs/evolution.md, as
    by generated code."""

    __slots__ = ("description", "info", "methods", "schema")

    def __init__(self, description: Description) -> None:
        self.description = description
        self.schema: Schema = schema_of(description, "service")
        shapes = Made(self.schema)
        self.methods: Mapping[str, DescribedMethod] = made(
            description,
            lambda: {
                each.name: DescribedMethod(self.schema.name, index, each, shapes)
                for index, each in enumerate(self.schema.methods.values())
            },
        )
        self.info = ServiceInfo(
            name=self.schema.name,
            agent=None if self.schema.per is None else self.schema.per[0],
            descriptor=description.descriptor,
            annex=description.annex,
            fingerprint=self.schema.fingerprint,
            methods=tuple(each.info for each in self.methods.values()),
        )

    @property
    def name(self) -> str:
        return self.schema.name

    def target(self, client: TargetSource) -> Target:
        """What calls its methods: `target.call(method.info, options, *method.arguments(json))`, and `batch`,
        `bulk`, `replicate`, `read_stream`, `write_stream`, `duplex_stream`; `at`, `any`, `on` and
        `everywhere` say at which agents."""
        return target_of(client, self.info)

    def async_target(self, client: AsyncTargetSource) -> AsyncTarget:
        """The same for asyncio."""
        return async_target_of(client, self.info)

    def shown_agent(self, text: str) -> str:
        """An agent that was sent, as users read it: a member of an enum by its name."""
        return shown_agent(self.info, text)

    def agent(self, text: str) -> str:
        """An agent as it is sent; a member of an enum is given by its name."""
        return text_of_agent(self.info, text)

    def __repr__(self) -> str:
        return f"described.Service({self.name!r})"
