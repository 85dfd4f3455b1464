"""F8. `mfidlc breaking FILE... --against REF`"""

from typing import TYPE_CHECKING

import click

from mfidl.cli.common import finish, schema_options, show

if TYPE_CHECKING:
    from mfidl.breaking.baseline import Baseline
    from mfidl.breaking.profile import Profile
    from mfidl.compiler import Outcome

_PROFILES = ("default", "live", "strict")
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
    "--profile",
    type=click.Choice(_PROFILES),
    default="default",
    help="What counts: live, only what running peers and stored archives notice; strict, all of it.",
)
@click.option(
    "--only",
    "impacts",
    type=click.Choice(_IMPACTS),
    multiple=True,
    help="Report only what breaks this, and count all of it. May be repeated.",
)
@click.option("--ignore", "ignored", metavar="CODE", multiple=True, help="Accept this rule's findings.")
@click.option(
    "--rollout",
    type=click.Choice(_ROLLOUT),
    help="Services and topics whose peers cannot be upgraded in any order: show them, fail for them too, or "
    "hide them, whatever the profile says.",
)
def command(
    files: tuple[str, ...],
    import_paths: tuple[str, ...],
    style: str,
    color: str,
    against: str,
    profile: str,
    impacts: tuple[str, ...],
    ignored: tuple[str, ...],
    rollout: str | None,
) -> None:
    """Compare schemas with an older state of them, and show what the change breaks.

    FILE may be a folder: then modules that are gone are found too. Exit code 1 if anything breaks, except
    bytes to which running peers adapt, and orders in which peers must be upgraded. --profile, --only and
    --rollout choose what else counts, or does not.
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
            _compare(baseline, older, newer, style, color, _chosen(profile, impacts, rollout), ignored)
    except BaselineError as error:
        raise click.BadParameter(str(error), param_hint="--against") from None


def _chosen(profile: str, only: tuple[str, ...], rollout: str | None) -> "Profile":
    from mfidl.breaking.profile import PROFILES, Rule
    from mfidl.breaking.rules import Impact

    chosen = PROFILES[profile]
    if rollout is not None:
        rules = {"show": Rule.SHOWN, "fail": Rule.FAILS, "hide": Rule.HIDDEN}
        chosen = chosen.with_rules([Impact.ROLLOUT], rules[rollout])
    if only:
        chosen = chosen.with_rules(Impact, Rule.HIDDEN)
        chosen = chosen.with_rules(map(Impact, only), Rule.FAILS)
    return chosen


def _compare(
    baseline: "Baseline",
    older: "Outcome",
    newer: "Outcome",
    style: str,
    color: str,
    profile: "Profile",
    ignored: tuple[str, ...],
) -> None:
    from mfidl.breaking.findings import findings
    from mfidl.breaking.profile import Rule
    from mfidl.breaking.report import as_diagnostics, as_json
    from mfidl.breaking.rollout import rollouts
    from mfidl.breaking.rules import Impact

    for path in baseline.added:
        click.echo(f"{path}: new, nothing to compare it with", err=True)
    if older.program is None:
        if not baseline.files:
            raise SystemExit(0)
        click.echo("The older schemas have errors, so there is nothing to compare with:", err=True)
        finish(older, style, color)
    assert older.program is not None
    assert newer.program is not None

    peers = rollouts(older.program, newer.program)
    found = findings(older.program, newer.program, peers, profile, ignored)
    if style == "json":
        listed = [] if profile.rules[Impact.ROLLOUT] is Rule.HIDDEN else peers
        click.echo(as_json(found, listed, baseline.span), nl=False)
    else:
        show(as_diagnostics(found, baseline.span), style, color)
    raise SystemExit(1 if any(each.fails for each in found) else 0)


def _check_codes(codes: tuple[str, ...]) -> None:
    from mfidl.breaking.rules import RULES
    from mfidl.diagnostics import did_you_mean

    for code in codes:
        if code not in RULES:
            hint = did_you_mean(code, RULES)
            said = f"'{code}' is not a rule." + (f" {hint[0].upper()}{hint[1:]}" if hint else "")
            raise click.BadParameter(said, param_hint="--ignore")
