"""mf_clock, mf_controller and mf_recorder are fixtures that the runtime brings."""

import pytest

from mf.testing import Channel, FakeClock, FakeController, Operation, Recorder, script
from shop import NotSold, PricesServant, TillClient
from till import Till


def prices(recorder: Recorder | None = None) -> PricesServant:
    """Tea costs 3, cake costs 5, and nothing else is sold."""

    def price(item: str) -> int:
        known = {"tea": 3, "cake": 5}
        if item not in known:
            raise NotSold(item)
        return known[item]

    return script(PricesServant, recorder, price=price)


def test_a_till_asks_for_each_price_in_order(mf_recorder: Recorder) -> None:
    with Channel(prices(mf_recorder)) as known, Channel(Till(known.client)) as till:
        assert TillClient(till.client).total(["tea", "cake", "tea"]) == 11
    assert [call.arguments["item"] for call in mf_recorder.calls] == ["tea", "cake", "tea"]


def test_a_till_says_what_is_not_sold() -> None:
    with (
        Channel(prices()) as known,
        Channel(Till(known.client)) as till,
        pytest.raises(NotSold),
    ):
        TillClient(till.client).total(["tea", "ship"])


def test_a_till_takes_the_last_price_when_a_reply_is_lost(mf_clock: FakeClock) -> None:
    with Channel(prices()) as known, Channel(Till(known.client)) as till:
        client = TillClient(till.client)
        assert client.total(["tea"]) == 3
        known.faults.drop(Operation.REPLY, passes=2)  # and two seconds pass
        began = mf_clock.now
        assert client.total(["tea"]) == 3
        assert mf_clock.now == began + 2


def test_a_till_goes_on_with_another_server_of_prices(mf_controller: FakeController) -> None:
    with mf_controller.client() as client, Channel(Till(client)) as till:
        customer = TillClient(till.client)
        first = mf_controller.serve(prices())
        assert customer.total(["tea"]) == 3
        mf_controller.stop(first)
        mf_controller.serve(prices())
        assert customer.total(["cake"]) == 5
