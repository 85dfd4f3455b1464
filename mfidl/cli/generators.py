"""F8. The options of `compile` that are not known before: `--NAME OUT` and `--NAME-opt key=value`, for
programs `mfidlc-gen-NAME` on PATH.

They are taken off the command line before Click parses it. What is neither an option of `compile` nor the
name of such a program is a mistake in the command line, and named as both.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import click

from mfidl.plugin import PREFIX, Generator

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_OPT = "-opt"
_TAKEN = "mfidl.generators"


@dataclass(slots=True)
class Asked:
    """The generators that the command line names."""

    outs: dict[str, str] = field(default_factory=dict)
    options: list[tuple[str, str]] = field(default_factory=list)  # name, `key=value`


class GeneratorCommand(click.Command):
    """A command that leaves unknown long options to generators; `asked` is stored in the context."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asked = Asked()
        ctx.meta[_TAKEN] = asked
        return super().parse_args(ctx, args if ctx.resilient_parsing else self._take(ctx, args, asked))

    def _take(self, ctx: click.Context, args: Sequence[str], asked: Asked) -> list[str]:
        """Fills `asked`; returns the arguments for Click."""
        wants_value = {
            word: not (each.is_flag or each.count)
            for each in self.get_params(ctx)
            if isinstance(each, click.Option)
            for word in (*each.opts, *each.secondary_opts)
        }
        left: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                return [*left, word, *words]
            name, equals, value = word.partition("=")
            if name.startswith("--") and name not in wants_value:
                _note(ctx, asked, name, value if equals else next(words, None))
                continue
            left.append(word)
            alone = name if name.startswith("--") else word
            if wants_value.get(alone, False) and not (equals and name.startswith("--")):
                left += [each for each in (next(words, None),) if each is not None]
        return left


def asked_of(ctx: click.Context) -> Asked:
    found = ctx.meta[_TAKEN]
    assert isinstance(found, Asked)
    return found


def _note(ctx: click.Context, asked: Asked, option: str, value: str | None) -> None:
    name = option[2:].removesuffix(_OPT)
    if not _NAME.fullmatch(name):
        raise click.NoSuchOption(option, ctx=ctx)
    if option.endswith(_OPT):
        if value is None:
            raise click.UsageError(f"{option} needs a value: {option} key=value", ctx)
        if any("\ud800" <= each <= "\udfff" for each in value):  # bytes that are no text
            raise click.UsageError(f"The value of {option} is not UTF-8.", ctx)
        asked.options.append((name, value))
        return
    if name in asked.outs:
        raise click.UsageError(f"{option} is given twice.", ctx)
    asked.outs[name] = value or ""


def generators_of(
    ctx: click.Context, programs: Iterable[str], timeout: float, builtin: Iterable[str]
) -> tuple[Generator, ...]:
    """The generators of this run; `programs` are the values of --plugin, `builtin` reserved names."""
    if not timeout > 0:  # a NaN passes Click's own check
        raise click.UsageError(f"--plugin-timeout takes a number of seconds, not {timeout}.", ctx)
    asked = asked_of(ctx)
    named = dict(_plugin(ctx, each, builtin) for each in programs)
    for name in (*named, *(name for name, _ in asked.options)):
        if name not in asked.outs:
            raise click.UsageError(f"Nothing is asked of generator '{name}'. Give --{name} OUT.", ctx)
    made = []
    for name, out in asked.outs.items():
        program = named.get(name) or _found(ctx, name)
        if not out or out.startswith("-"):
            raise click.UsageError(f"--{name} needs a folder to write to: --{name} OUT", ctx)
        options = tuple(_pair(value) for each, value in asked.options if each == name)
        made.append(Generator(name, program, out, options, timeout))
    return tuple(made)


def _plugin(ctx: click.Context, value: str, builtin: Iterable[str]) -> tuple[str, str]:
    name, _, path = value.partition("=")
    if not path or not _NAME.fullmatch(name):
        raise click.UsageError(f"'{value}' is not NAME=PATH, such as --plugin go=tools/gen-go", ctx)
    if name in builtin:
        raise click.UsageError(
            f"'{name}' is a language of mfidlc itself. Give the generator another name.", ctx
        )
    return name, path


def _pair(value: str) -> tuple[str, str]:
    key, _, rest = value.partition("=")
    return key, rest


def _found(ctx: click.Context, name: str) -> str:
    from shutil import which  # a cost that few runs need to pay

    program = which(PREFIX + name)
    if program is not None:
        return program
    from mfidl.diagnostics.suggest import nearest

    own = [word for each in ctx.command.params if isinstance(each, click.Option) for word in each.opts]
    known = [*own, *(f"--{each}" for each in _on_path())]
    near = nearest(f"--{name}", known)
    hint = f" Did you mean `{near}`?" if near else ""
    searched = ", ".join(f"`{each}`" for each in _folders()) or "nothing"
    raise click.UsageError(
        f"No such option '--{name}'.{hint} Nor is there a program `{PREFIX}{name}` on PATH, which would"
        f" generate for it; searched: {searched}. Elsewhere: --plugin {name}=PATH",
        ctx,
    )


def _folders() -> list[str]:
    return list(dict.fromkeys(each for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if each))


def _on_path() -> list[str]:
    found: set[str] = set()
    for folder in _folders():
        try:
            found.update(each.removeprefix(PREFIX) for each in os.listdir(folder) if each.startswith(PREFIX))
        except OSError:
            continue
    return sorted(found)
