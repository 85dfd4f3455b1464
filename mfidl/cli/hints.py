"""F8. What may have been meant on a command line that Click refused. Loaded only when it did."""

import click

from mfidl.diagnostics import did_you_mean
from mfidl.diagnostics.suggest import nearest


def with_hint(mistake: click.UsageError) -> click.UsageError:
    """The mistake with a suggestion of ours behind its message, where there is one."""
    found = None
    if isinstance(mistake, click.NoSuchOption):
        found = _option(mistake)
    elif isinstance(mistake, click.BadParameter) and isinstance(mistake.param, click.Option):
        found = _choice(mistake.param, mistake)
    if found is None:
        return mistake
    message = mistake.message if isinstance(mistake, click.NoSuchOption) else mistake.format_message()
    return click.UsageError(f"{message} {found}", ctx=mistake.ctx)


def _option(mistake: click.NoSuchOption) -> str | None:
    context = mistake.ctx
    if context is None:
        return None
    found = nearest(mistake.option_name, _options(context.command))
    if found:
        return f"Did you mean `{found}`?"
    group = context.parent.command if context.parent else None
    if not isinstance(group, click.Group):
        return None
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        options = [] if command is None else _options(command)
        if mistake.option_name in options:
            return f"It belongs to `mfidlc {name}`."
        found = nearest(mistake.option_name, options)
        if found:
            return f"Did you mean `mfidlc {name} {found}`?"
    return None


def _options(command: click.Command) -> list[str]:
    words = [word for each in command.params if isinstance(each, click.Option) for word in each.opts]
    return ["--help", *words]


def _choice(option: click.Option, mistake: click.BadParameter) -> str | None:
    if not isinstance(option.type, click.Choice):
        return None
    written = mistake.message.split("'")[1:2]
    found = did_you_mean(written[0], map(str, option.type.choices)) if written else None
    return found and f"{found[0].upper()}{found[1:]}"
