"""Which servers an argument of `mf drain`, `mf log-level` and `mf tap` names."""

from mf_tools.addresses import check_no_secret
from mf_tools.connect import Place
from mf_tools.guard import USAGE, CommandError
from mf_tools.registry import entries

_LEAST = 4
"""Characters of an instance's id that name it."""


def steered(place: Place, which: str) -> list[str]:
    """The addresses: `which` itself, or those of the processes of this name, or of this instance, that the
    controller lists. Ends the command if there is none."""
    if "://" in which or which.startswith("unix:"):
        check_no_secret(which)
        return [which]
    if place.where.startswith("relay"):
        raise CommandError("behind a relay no server is steered: give its own address", USAGE)
    found = {
        each.address: each
        for each in entries(place)
        if each.process == which or (len(which) >= _LEAST and each.instance.startswith(which))
    }
    if not found:
        raise CommandError(
            f"no process or instance '{which}' is registered; `mf ls --long` shows what is", USAGE
        )
    return list(found)
