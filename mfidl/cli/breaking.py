"""F8. `mfidlc breaking FILE... --against REF`"""

from typing import TYPE_CHECKING

import click

from mfidl.cli.common import finish, schema_options, show

if TYPE_CHECKING:
    from mfidl.breaking.baseline import Baseline
    from mfidl.breaking.change import Change
    from mfidl.compiler import Outcome

_ROLLOUT = ("show", "fail", "hide")
_IMPACTS = ("wire", "layout", "source", "behaviour", "rollout")


@click.command("breaking")
@schema_options
@click.option(
    "--against",
    metavar="REF",
    required=True,
    help="The older schemas: a file, a folder, or a git revision such as main or HEAD~1.",
)
@click.option(
    "--only",
    "impacts",
    type=click.Choice(_IMPACTS),
    multiple=True,
    help="Report only what breaks this. May be repeated.",
)
@click.option("--ignore", "ignored", metavar="CODE", multiple=True, help="Accept this rule's findings.")
@click.option(
    "--rollout",
    type=click.Choice(_ROLLOUT),
    default="show",
    help="Services and topics whose peers cannot be upgraded in any order: show them, fail for them too, or "
    "hide them.",
)
def command(
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    style: str,
    color: str,
    against: str,
    impacts: tuple[str, ...],
    ignored: tuple[str, ...],
    rollout: str,
) -> None:
    """Compare schemas with an older state of them, and show what the change breaks.

    FILE may be a folder: then modules that are gone are found too. Exit code 1 if anything breaks, except
    bytes to which running peers adapt: --only wire and --only layout count these. With --rollout fail, or
    --only rollout, also if peers that run already cannot be upgraded in any order, even if nothing else
    breaks.
    """
    from mfidl.breaking.baseline import BaselineError, open_baseline, schemas
    from mfidl.compiler import check

    _check_codes(ignored)
    newer = check(schemas(files), import_paths)
    if newer.program is None:
        finish(newer, style, color)
    try:
        with open_baseline(against, files, import_paths) as baseline:
            older = check(baseline.files, baseline.import_paths)
            _compare(baseline, older, newer, style, color, impacts, ignored, rollout)
    except BaselineError as error:
        raise click.BadParameter(str(error), param_hint="--against") from None


def _compare(
    baseline: "Baseline",
    older: "Outcome",
    newer: "Outcome",
    style: str,
    color: str,
    impacts: tuple[str, ...],
    ignored: tuple[str, ...],
    rollout: str,
) -> None:
    from mfidl.breaking.adapted import Adapted
    from mfidl.breaking.compare import compare
    from mfidl.breaking.report import as_diagnostics, as_json
    from mfidl.breaking.rollout import rollouts

    for path in baseline.added:
        click.echo(f"{path}: new, nothing to compare it with", err=True)
    if older.program is None:
        if not baseline.files:
            raise SystemExit(0)
        click.echo("The older schemas have errors, so there is nothing to compare with:", err=True)
        finish(older, style, color)
    assert older.program is not None
    assert newer.program is not None

    def wanted(change: "Change") -> bool:
        fits = not impacts or any(impact.value in impacts for impact in change.impacts)
        return fits and change.code not in ignored

    changes = [change for change in compare(older.program, newer.program) if wanted(change)]
    found = rollouts(older.program, newer.program)
    adapted = Adapted(older.program, newer.program, found)
    told = [] if rollout == "hide" else found
    orders = [change for each in told if (change := each.change()) is not None and wanted(change)]
    if style == "json":
        click.echo(as_json([*changes, *orders], adapted, told, baseline.span), nl=False)
    else:
        show(as_diagnostics([*changes, *orders], adapted, baseline.span), style, color)
    strict = "wire" in impacts or "layout" in impacts
    breaks = any(strict or change not in adapted for change in changes)
    ordered = rollout == "fail" or "rollout" in impacts
    raise SystemExit(1 if breaks or (ordered and orders) else 0)


def _check_codes(codes: tuple[str, ...]) -> None:
    from mfidl.breaking.rules import RULES
    from mfidl.diagnostics import did_you_mean

    for code in codes:
        if code not in RULES:
            hint = did_you_mean(code, RULES)
            said = f"'{code}' is not a rule." + (f" {hint[0].upper()}{hint[1:]}" if hint else "")
            raise click.BadParameter(said, param_hint="--ignore")
