"""R6. The schemas of the messages of a group whose replicas are upgraded one by one.

A message stays as its client has sent it, with the fingerprint of its schema. A replica of another version
asks the other members what they know of that schema, and applies the message as it would serve a client of
that version: the request in its own schema, what comes of it back. Only members are asked: what they say is
trusted as the log is.

A replica has 16 schemas at a time, however often its group is upgraded: one that it needs takes the place
of the one that was used the longest ago, which is neither a member's own nor that of a message that waits.
"""

from collections import OrderedDict
from collections.abc import Sequence, Set
from uuid import UUID

from mf.codec.texts import Texts
from mf.core.error import Error
from mf.core.service import ServiceInfo
from mf.evolution.reading import read
from mf.evolution.types import SchemaError, building
from mf.protocol.adapted import Adaptation, Adapted, adaptation
from mf.replicated.messages import Body, schema_of

MOST = 16
"""Schemas that are known at a time, its own among them."""


class UnadaptableError(Exception):
    """No rule leads from a message to the schema of this replica, and others may have applied it."""


class Schemas:
    __slots__ = ("_made", "_of_members", "_others", "_own_texts", "_service", "own")

    def __init__(self, service: ServiceInfo) -> None:
        self._service = service
        self._own_texts = Texts(service.descriptor, service.annex)
        self._others: OrderedDict[UUID, Texts] = OrderedDict()  # the one used the longest ago first
        self._of_members: dict[str, UUID] = {}
        self._made: dict[UUID, Adaptation] = {}
        self.own = schema_of(service)

    @property
    def known(self) -> set[UUID]:
        return {self.own, *self._others}

    @property
    def texts(self) -> list[Texts]:
        """Its own first, then the one used last."""
        return [self._own_texts, *reversed(self._others.values())]

    def learn(self, member: str, texts: Sequence[Texts], wanted: Set[UUID] = frozenset()) -> None:
        """Learns the schemas that a member has, its own first. `wanted`: the schemas of messages that wait.
        Any other schema is learned only if there is room."""
        for at, each in enumerate(texts):
            schema = UUID(bytes=each.fingerprint)
            if at == 0:
                self._of_members[member] = schema
            if schema == self.own:
                continue
            if schema in self._others:
                if at == 0:
                    self._others.move_to_end(schema)
            elif len(self._others) + 1 < MOST or ((at == 0 or schema in wanted) and self._forget_one(wanted)):
                self._others[schema] = each

    def _forget_one(self, wanted: Set[UUID]) -> bool:
        needed = {*wanted, *self._of_members.values()}
        schema = next((each for each in self._others if each not in needed), None)
        if schema is None:
            return False
        del self._others[schema]
        self._made.pop(schema, None)
        return True

    def adapted(self, body: Body) -> tuple[str, bytes, Adapted | None]:
        """The method's name and the request in the schema of this replica, which has that of the message.
        Raises UnadaptableError."""
        if body.schema == self.own:
            return body.method, body.payload, None
        self._others.move_to_end(body.schema)
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
        texts, own = self._others[schema], self._own_texts
        made = adaptation(self._service, read(texts.descriptor, texts.annex), read(own.descriptor, own.annex))
        assert isinstance(made, Adaptation)
        self._made[schema] = made
        return made
