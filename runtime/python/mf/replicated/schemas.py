"""R4. The schemas of the messages of a group whose replicas are upgraded one by one.

A message stays as its client has sent it, with the fingerprint of its schema. A replica of another version
asks the other members what they know of that schema, and applies the message as it would serve a client of
that version: the request in its own schema, what comes of it back. Only members are asked: what they say is
trusted as the log is.
"""

from collections.abc import Iterable
from uuid import UUID

from mf.codec.texts import Texts
from mf.core.error import Error
from mf.core.service import ServiceInfo
from mf.evolution.reading import read
from mf.evolution.types import SchemaError, building
from mf.protocol.adapted import Adaptation, Adapted, adaptation
from mf.replicated.messages import Body, schema_of

MOST = 16
"""Schemas that are known: its own, and those that were learned last."""


class UnadaptableError(Exception):
    """No rule leads from a message to the schema of this replica, and others may have applied it."""


class Schemas:
    __slots__ = ("_made", "_service", "own", "texts")

    def __init__(self, service: ServiceInfo) -> None:
        self._service = service
        self._made: dict[UUID, Adaptation] = {}
        self.own = schema_of(service)
        self.texts: dict[UUID, Texts] = {self.own: Texts(service.descriptor, service.annex)}

    def learn(self, texts: Iterable[Texts]) -> list[UUID]:
        """Those that were not known."""
        learned = []
        for each in texts:
            schema = UUID(bytes=each.fingerprint)
            if schema not in self.texts and len(self.texts) < MOST:
                self.texts[schema] = each
                learned.append(schema)
        return learned

    def adapted(self, body: Body) -> tuple[str, bytes, Adapted | None]:
        """The method's name and the request in the schema of this replica, which knows that of the message.
        Raises UnadaptableError."""
        if body.schema == self.own:
            return body.method, body.payload, None
        try:
            with building():
                made = self._made.get(body.schema) or self._make(body.schema)
                found = made.method_of(body.method)
            _, payload = found.request(0, 1, body.payload)
        except SchemaError as wrong:
            raise UnadaptableError(str(wrong)) from None
        except Error as refused:
            raise UnadaptableError(refused.message) from None
        return made.names[found.index], bytes(payload), found

    def _make(self, schema: UUID) -> Adaptation:
        texts, own = self.texts[schema], self.texts[self.own]
        made = adaptation(self._service, read(texts.descriptor, texts.annex), read(own.descriptor, own.annex))
        assert isinstance(made, Adaptation)
        self._made[schema] = made
        return made
