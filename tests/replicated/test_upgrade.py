"""A group whose replicas and clients are in C++ and Python mixed goes to a later schema and back, one process
after the other, while clients call by all patterns.
"""

from contextlib import closing
from pathlib import Path

import pytest

from mfidl.breaking.rollout import Order, rollouts
from mfidl.compiler import check
from tests.replicated.group import NAMES, SCHEMAS, Ended, Group, Kind, Load, check_order, journals

__all__ = ["journals"]

CALLS = 40
"""That each client makes at least between two steps."""
OTHER = {"python": "cpp", "cpp": "python"}


class Clients:
    """One in each language."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._running: dict[str, Load] = {}
        self.ended: dict[str, Ended] = {}
        for language in OTHER:
            self.replace(language, "journal")

    def replace(self, language: str, schema: str, *more: str) -> None:
        """The later one calls before the earlier one ends."""
        name = f"{language}.{schema}.{len(self.ended)}"
        before, made = self._running.get(language), Load(self._group, Kind(language, schema), 4, name, more)
        self._running[language] = made
        made.goes_on(CALLS)
        if before is not None:
            self.ended |= before.stop()

    def go_on(self, calls: int = CALLS) -> None:
        for each in self._running.values():
            each.goes_on(calls)

    def stop(self) -> None:
        for each in self._running.values():
            self.ended |= each.stop()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("languages", "most_entries", "moves"),
    [(("cpp", "python", "cpp"), 16_384, False), (("python", "cpp", "python"), 500, True)],
    ids=["by their logs", "into the other language, by snapshots"],
)
def test_a_mixed_group_goes_to_a_later_schema_and_back_one_by_one_and_no_message_is_lost_or_applied_twice(
    languages: tuple[str, ...],
    most_entries: int,
    moves: bool,
    tmp_path: Path,
    journals: dict[str, Path],
) -> None:
    with closing(Group(tmp_path, journals, languages, most_entries)) as group:
        clients = Clients(group)
        if moves:
            clients.go_on(most_entries)
        restored = 0

        def upgrade(name: str, schema: str) -> None:
            nonlocal restored
            language = group.kinds[name].language
            group.replace(name, Kind(OTHER[language] if moves else language, schema))
            restored += group.ask(name, "restored")
            clients.go_on()

        for name in NAMES:
            upgrade(name, "later")
        for language in OTHER:
            clients.replace(language, "later", *(["more"] if moves else []))
        for language in OTHER:
            clients.replace(language, "journal")
        if moves:
            clients.go_on(most_entries)  # no log has what only the later schema can read
        for name in NAMES:
            upgrade(name, "journal")
        clients.stop()

        applied = check_order(group, clients.ended)
        assert {len(texts) for texts in applied.values()} == {len(clients.ended)}
        assert {group.ask(name, "stuck") for name in NAMES} == {""}
        assert restored > 0 or not moves


def test_breaking_tells_the_order_in_which_this_group_is_upgraded() -> None:
    older, later = (check([str(schema)], []).program for schema in SCHEMAS.values())
    assert older is not None
    assert later is not None
    [found] = rollouts(older, later)
    assert found.order is Order.PROVIDERS_FIRST
    assert found.newer.refused == ("Journal.more: method only here",)
