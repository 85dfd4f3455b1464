"""F8. `mfidlc help [TOPIC]`: a command, a code of a message, or a table of the language."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mfidl.diagnostics import Code

_CODE = re.compile(r"[BELRWbelrw]?\d{1,4}")


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def command(context: click.Context, topic: str | None) -> None:
    """Explain a command, the code of a message (E0301, L0601, B0201), or a topic.

    Topics: codes, annotations, tiers, types, exit-codes.
    """
    group = context.parent
    assert group is not None
    if topic is None:
        click.echo(group.get_help())
        click.echo("\nmfidlc help TOPIC has more: a command, a code (E0301), " + _list(_topics()) + ".")
        return
    text = _page(group, topic)
    if text is None:
        raise click.UsageError(_unknown(group, topic))
    if _is_long(text):
        click.echo_via_pager(text)
    else:
        click.echo(text.rstrip("\n"))


def _page(group: click.Context, topic: str) -> str | None:
    if _CODE.fullmatch(topic):
        return _code(topic)
    if topic.lower() in _topics():
        from mfidl.cli import topics

        return topics.PAGES[topic.lower()]()
    holder = group.command
    assert isinstance(holder, click.Group)
    found = holder.get_command(group, topic)
    if found is None:
        return None
    return found.get_help(click.Context(found, info_name=topic, parent=group))


def _topics() -> tuple[str, ...]:
    return ("codes", "annotations", "tiers", "types", "exit-codes")


def _code(topic: str) -> str | None:
    """The page of a code, as the documentation has it."""
    from mfidl.diagnostics.explain import explain, plain

    name = _normal(topic)
    code = _catalogue(name).get(name)
    if code is None:
        return None
    found = explain(name) if name[0] in "EW" else None
    text = plain(found.text) if found else code.explanation + "\n"
    return f"{name}: {code.title}\n\n{text}"


def _catalogue(name: str) -> "dict[str, Code]":
    """The one that a code of this letter would be in."""
    from mfidl.diagnostics import CATALOGUE

    if name.startswith("L"):
        from mfidl.lint.codes import CATALOGUE as RULES

        return RULES
    if name.startswith(("B", "R")):
        from mfidl.breaking.rules import RULES as BREAKING

        return BREAKING
    return CATALOGUE


def _unknown(group: click.Context, topic: str) -> str:
    from mfidl.diagnostics.suggest import nearest

    holder = group.command
    assert isinstance(holder, click.Group)
    if _CODE.fullmatch(topic):
        name = _normal(topic)
        codes = _catalogue(name)
        listed = "".join(f"\n  {code}  {codes[code].title}" for code in _around(name, codes))
        everything = "lint --list" if name.startswith("L") else "help codes"
        return f"There is no code {name}. Near it:{listed}\nAll of them: mfidlc {everything}"
    found = nearest(topic.lower(), (*holder.list_commands(group), *_topics()))
    hint = f" Did you mean `{found}`?" if found else " All topics: mfidlc help"
    return f"No help on '{topic}'.{hint}"


def _normal(topic: str) -> str:
    """`E0301` of `e301` and of `301`."""
    letter = topic[0].upper() if topic[0].isalpha() else "E"
    return letter + topic.lstrip("BELRWbelrw").rjust(4, "0")


def _around(name: str, codes: Iterable[str]) -> list[str]:
    """The five codes with the nearest numbers, of the same group if there are so many."""

    def distance(code: str) -> tuple[bool, bool, int]:
        return code[0] != name[0], code[1:3] != name[1:3], abs(int(code[1:]) - int(name[1:]))

    return sorted(sorted(codes, key=distance)[:5])


def _is_long(text: str) -> bool:
    """Whether a terminal would scroll the beginning away."""
    import shutil
    import sys

    return sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines


def _list(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1]
