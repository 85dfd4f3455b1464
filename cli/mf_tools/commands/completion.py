"""`mf completion`: the script that a shell reads to complete this command."""

import click

from mf_tools.output import line


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion of a shell.

    bash: eval "$(mf completion bash)"; zsh the same; fish: mf completion fish | source
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    root = context.find_root()
    line(found(root.command, {}, "mf", "_MF_COMPLETE").source())
