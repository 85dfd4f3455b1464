"""What the health service of a server says (docs/observability.md)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mf

_NOT_ASKED = ("UNKNOWN_SERVICE", "PERMISSION_DENIED")
"""A server of before, a relay, or one that does not let this side ask."""


def reasons_of(client: "mf.Client", service: str, deadline: float) -> list[str] | None:
    """Why the server may be given no work for this service (its full name; empty: as a whole). Empty: it
    serves. None: it cannot be asked. Raises mf.Error if it does not answer."""
    import mf
    from mf.health import HealthClient, State

    try:
        report = HealthClient(client).check(service, options=mf.CallOptions(deadline=deadline))
    except mf.Error as failed:
        if failed.code.name in _NOT_ASKED:
            return None
        raise
    if report.state is State.serving:
        return []
    return list(report.reasons) or [report.state.name.replace("_", " ")]
