"""The schemas that a replica has while its group is upgraded again and again."""

from contextlib import suppress
from uuid import UUID

from mf.codec.texts import Texts
from mf.replicated._generated.mf.replication import REPLICA_SERVICE
from mf.replicated.messages import Body, Origin, Pattern, Require
from mf.replicated.schemas import MOST, Schemas, UnadaptableError


def texts(number: int) -> Texts:
    """The schema of the program version with this number."""
    return Texts(f"service kv.Store{number}\n", "")


def schema(number: int) -> UUID:
    return UUID(bytes=texts(number).fingerprint)


def use(schemas: Schemas, number: int) -> None:
    """Uses the schema, as when a message of it is applied."""
    body = Body(Origin(), schema(number), "put", Pattern.one_hop, Require.one, b"")
    with suppress(UnadaptableError):
        schemas.adapted(body)


def numbers(schemas: Schemas, among: int = 100) -> list[int]:
    return [each for each in range(among) if schema(each) in schemas.known]


def test_the_schema_of_each_member_is_known_however_often_a_group_is_upgraded() -> None:
    schemas = Schemas(REPLICA_SERVICE)

    for number in range(60):
        member = "bc"[number % 2]
        older = [texts(each) for each in range(number - 1, max(-1, number - MOST), -1)]
        schemas.learn(member, [texts(number), *older])

        assert {schema(number), schema(max(0, number - 1)), schemas.own} <= schemas.known
        assert len(schemas.known) <= MOST

    assert schemas.texts[0].fingerprint == REPLICA_SERVICE.fingerprint


def test_the_least_recently_used_schema_is_forgotten_and_may_be_learned_again() -> None:
    schemas = Schemas(REPLICA_SERVICE)
    schemas.learn("b", [texts(each) for each in range(MOST - 1)])
    assert numbers(schemas) == list(range(MOST - 1))
    use(schemas, 1)

    schemas.learn("c", [texts(50)])  # 0 is b's own, 1 was used
    assert numbers(schemas) == [0, 1, *range(3, MOST - 1), 50]
    assert [each.fingerprint for each in schemas.texts[1:3]] == [texts(50).fingerprint, texts(1).fingerprint]

    schemas.learn("c", [texts(2)])
    assert numbers(schemas) == [0, 1, 2, *range(4, MOST - 1), 50]


def test_a_schema_that_a_member_knows_replaces_none_unless_a_message_waits_for_it() -> None:
    schemas = Schemas(REPLICA_SERVICE)
    schemas.learn("b", [texts(each) for each in range(MOST - 1)])

    schemas.learn("c", [texts(0), texts(50), texts(51)], {schema(51), schema(1)})

    assert numbers(schemas) == [0, 1, *range(3, MOST - 1), 51]


def test_no_schema_that_is_needed_is_forgotten() -> None:
    schemas = Schemas(REPLICA_SERVICE)
    all_needed = {schema(each) for each in range(MOST - 1)}
    schemas.learn("b", [texts(each) for each in range(MOST - 1)])

    schemas.learn("c", [texts(50)], all_needed)

    assert numbers(schemas) == list(range(MOST - 1))
