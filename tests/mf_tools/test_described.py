"""`mf.described`: services and topics called with JSON by what a server, a relay or a file says of them."""

import asyncio
import json
from collections.abc import Iterator

import pytest

import mf
from mf import described
from mf.topics.publisher import PerAgentPublisher
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers

SEA = (
    '{"id":"1","title":"The sea","price":12.5,"size":{"width":10.0,"height":20.0,"kind":"book"},'
    '"marks":["sale"],"tongue":"en"}'
)
PLAIN = described.Description("shop.Shop", "service shop.Shop\n", "")


@pytest.fixture(scope="module")
def client(shop: Server) -> Iterator[mf.Client]:
    with mf.Client(shop.address) as made:
        yield made


@pytest.fixture(scope="module")
def service(client: mf.Client) -> described.Service:
    return described.Service(client.describe("shop.Shop"))


def call(client: mf.Client, service: described.Service, name: str, json_text: str = "{}") -> str:
    method = service.methods[name]
    target = service.target(client).at("books")
    return method.result_json(target.call(method.info, None, *method.arguments(json_text)))


@pytest.mark.parametrize(
    ("method", "sent", "answer"),
    [
        ("find", '{"most": 1}', f"[{SEA}]"),
        ("find", '{"word": "nothing"}', "[]"),
        ("area", '{"size": {"width": 2, "height": 3.5, "kind": "map"}}', "7.0"),
        ("answer", '{"question": "which?"}', f'{{"item":{SEA}}}'),
        ("answer", '{"question": "why?"}', '{"text":"books: why?"}'),
        ("order", f'{{"order": {{"number": 7, "items": [{SEA}]}}}}', '{"number":"7","sum":12.5}'),
        ("slow", '{"seconds": 0}', "0.0"),
    ],
)
def test_a_method_of_each_tier_is_called_with_json(
    client: mf.Client, service: described.Service, method: str, sent: str, answer: str
) -> None:
    if method == "order":
        sent = sent.replace('"items"', '"placed": "2026-11-29T00:00:00Z", "items"')
    assert call(client, service, method, sent) == answer


def test_a_method_without_an_answer_gives_null(client: mf.Client, service: described.Service) -> None:
    assert call(client, service, "note", '{"text": "one-way"}') == "null"


def test_a_declared_error_has_its_name_and_fields(client: mf.Client, service: described.Service) -> None:
    with pytest.raises(described.DescribedError) as raised:
        call(client, service, "item", '{"title": "?"}')
    assert raised.value.name == "shop.NotFound"
    assert json.loads(raised.value.json) == {"title": "?", "nearest": ["The sea", "Sea charts"]}
    assert str(raised.value) == f"shop.NotFound {raised.value.json}"


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        ('{"most": "many"}', mf.Fault.JSON_WRONG_TYPE),
        ('{"wrod": ""}', mf.Fault.JSON_UNKNOWN_FIELD),
        ('{"word": "", "word": ""}', mf.Fault.JSON_DUPLICATE_KEY),
        ("{", mf.Fault.JSON_SYNTAX),
        ("[" * 1000, mf.Fault.JSON_WRONG_TYPE),
        ('{"word": ' + "[" * 1000, mf.Fault.JSON_WRONG_TYPE),
    ],
)
def test_a_wrong_text_is_refused_before_anything_is_sent(
    service: described.Service, sent: str, fault: mf.Fault
) -> None:
    with pytest.raises(mf.DecodeError) as raised:
        service.methods["find"].arguments(sent)
    assert raised.value.fault is fault


def test_streams_go_in_both_directions(client: mf.Client, service: described.Service) -> None:
    target = service.target(client).at("books")
    count, total, shout = (service.methods[name] for name in ("count", "total", "shout"))
    read = target.read_stream(count.info, None, *count.arguments('{"to": 3}'))
    assert [count.received_json(each) for each in read] == ["1", "2", "3"]
    written = target.write_stream(
        total.info, None, map(total.sent, ("1", "2")), *total.arguments('{"start": 4}')
    )
    assert total.result_json(written) == '"7"'
    with target.duplex_stream(shout.info, None, *shout.arguments()) as both:
        both.write(shout.sent('"sea"'))
        both.done_writing()
        assert [shout.received_json(each) for each in both] == ['"SEA"']


def test_batches_and_several_agents_have_an_outcome_each(
    client: mf.Client, service: described.Service
) -> None:
    item = service.methods["item"]
    requests = [item.request('{"title": "The sea"}'), item.request('{"title": "?"}')]
    for outcomes in (
        service.target(client).at("books").batch(item.info, requests).results(),
        service.target(client).at("maps").bulk(item.info, requests),
    ):
        assert item.result_json(outcomes[0].value()) == SEA
        assert isinstance(outcomes[1].error, described.DescribedError)
    answer = service.methods["answer"]
    scattered = service.target(client).on(["books", "maps"])
    found = scattered.call(answer.info, None, *answer.arguments('{"question": "?"}'))
    texts = {agent: answer.result_json(outcome.value()) for agent, outcome in found.items()}
    assert texts == {"books": '{"text":"books: ?"}', "maps": '{"text":"maps: ?"}'}


def test_a_message_that_was_handed_on_is_read_call_by_call(service: described.Service) -> None:
    area = service.methods["area"]
    sizes = [{"width": float(n), "height": 2.0, "kind": "map"} for n in (1, 2, 3)]
    texts = [json.dumps({"size": each}) for each in sizes]
    payload = bytes(area.info.encode_requests([area.request(each) for each in texts]))
    read = area.requests_json(payload, area.info.request_encoding, 3)
    assert [json.loads(each) for each in read] == [{"size": each} for each in sizes]
    results = bytes(area.info.encode_results([2.0, 4.0, 6.0]))
    ends = area.outcomes_json(results, area.info.result_encoding, 3, mixed=False)
    assert [each.value() for each in ends] == ["2.0", "4.0", "6.0"]

    mixed = b"\0\x0b" + bytes(6) + bytes(area.info.encode_results([2.0])) + b"\1\0\2\0no"
    first, second = area.outcomes_json(mixed, area.info.result_encoding, 2, mixed=True)
    assert (first.value(), isinstance(second.error, mf.Error)) == ("2.0", True)


@pytest.mark.parametrize(("payload", "tier", "items"), [(b"", 1, 1), (bytes(17), 1, 1), (bytes(24), 2, 1)])
def test_a_message_that_breaks_the_schema_is_refused(
    service: described.Service, payload: bytes, tier: int, items: int
) -> None:
    area = service.methods["area"]
    for read in (
        lambda: area.requests_json(payload, tier, items),
        lambda: area.outcomes_json(payload + b"\1", tier, items, mixed=True),
    ):
        with pytest.raises(mf.Error) as refused:
            read()
        assert refused.value.code is mf.Code.DECODE_ERROR


def test_a_topic_is_subscribed_to_and_published(client: mf.Client) -> None:
    topic = described.Topic(client.describe("shop.Sales", topic=True))
    assert topic.info.replay == 10
    with topic.subscriber(client, "books") as there:
        assert topic.value_json(there.next(10.0).value) == '{"title":"The sea","count":3}'
    with mf.Topics() as topics, topic.subscriber(topics) as here:
        publisher = topic.publisher(topics)
        assert isinstance(publisher, PerAgentPublisher)
        publisher.at("maps").publish(topic.value('{"title": "A map", "count": 1}'))
        message = here.next(10.0)
    assert (message.agent, topic.value_json(message.value)) == ("maps", '{"title":"A map","count":1}')


def test_an_example_is_read_as_what_it_is_an_example_of(service: described.Service) -> None:
    for method in service.methods.values():
        made = json.dumps(described.example(service.schema, method.params))
        assert len(method.arguments(made)) == len(method.params.fields)
    assert described.example(service.schema, service.methods["find"].params) == {"word": "sea", "most": 10}


def test_a_client_of_asyncio_describes_and_calls(shop: Server) -> None:
    async def found() -> str:
        async with mf.AsyncClient(shop.address) as client:
            service = described.Service(await client.describe("shop.Clock"))
            now = service.methods["now"]
            return now.result_json(await service.async_target(client).call(now.info, None))

    assert asyncio.run(found()) == '"2023-11-14T22:13:20Z"'


def test_a_description_comes_through_a_controller_and_a_relay(peers: Peers) -> None:
    controller = peers.controller()
    peers.shop(controller=controller.address)
    relay = peers.relay(controller.address)
    for where in (controller.address, relay.address.replace("tcp://", "relay://")):
        with mf.Client(where) as client:
            service = described.Service(client.describe("shop.Shop", agent="maps"))
            assert call(client, service, "find", '{"most": 1}') == f"[{SEA}]"
            topic = client.describe("shop.Sales", topic=True)
            assert described.Topic(topic).name == "shop.Sales"


def test_what_nobody_offers_is_named(client: mf.Client, shop: Server) -> None:
    with pytest.raises(mf.Error, match=f"{shop.address} does not offer shop.Nothing") as raised:
        client.describe("shop.Nothing")
    assert (raised.value.code, raised.value.execution) == (
        mf.Code.UNKNOWN_SERVICE,
        mf.Execution.NOT_EXECUTED,
    )
    with mf.Client(mf.Light()) as local, pytest.raises(mf.Error, match="a Light describes nothing"):
        local.describe("shop.Shop")


def test_a_controller_that_knows_no_server_is_not_waited_for_longer_than_agreed(peers: Peers) -> None:
    controller = peers.controller()
    with (
        mf.Client(controller.address, wait_for_server=0.05) as client,
        pytest.raises(mf.Error, match=r"no server offers shop\.Shop") as raised,
    ):
        client.describe("shop.Shop")
    assert raised.value.code is mf.Code.UNKNOWN_SERVICE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("topic a.B\n value u32\n", "is of a topic, not of a service"),
        ("service a.B\n method\n", "cannot be read"),
        ("\0" * 100, "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_description_that_is_none_is_refused_in_words(text: str, why: str) -> None:
    with pytest.raises(mf.Error, match=f"what it says of shop.Shop {why}") as raised:
        described.Service(PLAIN._replace(descriptor=text, address="tcp://h:1"))
    assert raised.value.code is mf.Code.SCHEMA_MISMATCH


def test_a_default_that_is_no_value_is_refused_when_it_is_needed() -> None:
    descriptor = "service a.B\n method m\n  params febird\n   x u8\n  results memcpy\n"
    annex = "annex a.B\n method m\n  params\n   x\n    default 300\n"
    service = described.Service(described.Description("a.B", descriptor, annex))
    with pytest.raises(mf.Error, match=r"a\.B\.m: a default of a\.B is 300") as raised:
        service.methods["m"].arguments("{}")
    assert raised.value.code is mf.Code.SCHEMA_MISMATCH


def test_agents_of_an_enum_are_given_by_their_names() -> None:
    types = "type a.Kind enum u8 closed\n book 1\n map 2\n"
    service = described.Service(described.Description("a.B", f"service a.B\n per kind a.Kind\n{types}", ""))
    assert (service.info.agent, service.agent("map"), service.agent("2")) == ("kind", "2", "2")
