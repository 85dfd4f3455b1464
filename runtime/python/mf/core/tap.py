"""R0. Interceptors that are put around the handlers of a server while it runs, and taken off again."""

from abc import abstractmethod

from mf.core.current import CurrentCall
from mf.core.interceptor import Interceptor


class Tap(Interceptor):
    """Give it to `add_tap` of a server, which calls the hooks of the calls that it wants: `begin` and
    `end`, which must neither wait nor raise. Any number of threads may be inside of one."""

    @abstractmethod
    def covers(self, service: str, method: str) -> bool:
        """Whether calls of the method may interest it. Called once for each method."""

    @abstractmethod
    def wants(self, call: CurrentCall) -> bool:
        """Whether this call does. Called before each call of a method that it covers."""
