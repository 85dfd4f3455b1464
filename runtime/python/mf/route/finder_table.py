"""R5. All transitions of the finder: what is known from the source that lists the endpoints of a service, and
the way of one endpoint from its address to a bound service. Pure data: finder.py fires the events and
performs the steps, and nothing else changes a state. C++ has the same states and events
(route/finder_table.hpp).

An endpoint is one address at which the service is offered:

unknown     it may be tried at once
connecting  the pool opens a connection
binding     the server has been asked to bind the service
describing  the server has another schema, and has been asked to describe it
bound       calls may go there
cooling     it is not tried before a given time: an attempt has failed with what may pass
draining    its server takes no new calls on the connection, and finishes those in flight
refused     an attempt has failed with what does not pass by waiting; calls that come later ask again
"""

from enum import Enum, auto


class State(Enum):
    """Of an endpoint."""

    UNKNOWN = auto()
    CONNECTING = auto()
    BINDING = auto()
    DESCRIBING = auto()
    BOUND = auto()
    COOLING = auto()
    DRAINING = auto()
    REFUSED = auto()


class Event(Enum):
    """What has happened to an endpoint."""

    START = auto()
    """It is wanted."""
    CONNECTED = auto()
    """There is a connection, at whose server the client's schema may be bound."""
    FOREIGN = auto()
    """The same, and the endpoint was announced with another schema."""
    BOUND = auto()
    FAILED = auto()
    """The attempt has failed with what may pass."""
    REFUSED = auto()
    """It has failed with what does not pass by waiting."""
    ABANDONED = auto()
    """The search that has made the attempt was interrupted. In C++ an abandoned attempt's endpoint is
    forgotten."""
    DIFFERS = auto()
    """The server has another schema, which it is asked to describe."""
    DESCRIBED = auto()
    LOST = auto()
    """The connection of the route has ended, or the binding was given up."""
    GOAWAY = auto()
    """The server of the route takes no new calls."""
    RESTED = auto()
    """The time of rest is over."""
    ASKED = auto()
    """A call has come since it refused."""


_S, _E = State, Event

TABLE: dict[State, dict[Event, State]] = {
    _S.UNKNOWN: {_E.START: _S.CONNECTING},
    _S.CONNECTING: {
        _E.CONNECTED: _S.BINDING,
        _E.FOREIGN: _S.DESCRIBING,
        _E.FAILED: _S.COOLING,
        _E.REFUSED: _S.REFUSED,
        _E.ABANDONED: _S.UNKNOWN,
    },
    _S.BINDING: {
        _E.BOUND: _S.BOUND,
        _E.DIFFERS: _S.DESCRIBING,
        _E.FAILED: _S.COOLING,
        _E.REFUSED: _S.REFUSED,
        _E.ABANDONED: _S.UNKNOWN,
    },
    _S.DESCRIBING: {
        _E.DESCRIBED: _S.BINDING,
        _E.FAILED: _S.COOLING,
        _E.REFUSED: _S.REFUSED,
        _E.ABANDONED: _S.UNKNOWN,
    },
    _S.BOUND: {_E.LOST: _S.UNKNOWN, _E.GOAWAY: _S.DRAINING},
    _S.COOLING: {_E.RESTED: _S.UNKNOWN},
    _S.DRAINING: {_E.START: _S.CONNECTING, _E.LOST: _S.UNKNOWN},
    _S.REFUSED: {_E.ASKED: _S.UNKNOWN},
}
"""An event that a state does not have here is an error of the caller."""

UNDER_WAY = frozenset((State.CONNECTING, State.BINDING, State.DESCRIBING))
"""An attempt is in progress, whose result is awaited."""


class Source(Enum):
    """What is known from the source that lists the endpoints."""

    UNKNOWN = auto()
    """It has not been asked."""
    RESOLVING = auto()
    """It has not answered."""
    EMPTY = auto()
    """It has no endpoint."""
    OFFERED = auto()
    REFUSED = auto()
    """It cannot be asked, for a reason that does not pass."""


class Step(Enum):
    """What the driver of a search does next."""

    CONNECT = auto()
    """And bind."""
    REST = auto()
    """Until the source has news, or the pause is over."""
    READY = auto()
    """The call has its route."""
