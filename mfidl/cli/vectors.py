"""F8. `mfidlc vectors FILE [--type TYPE] [--count N] [--seed N]`"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from mfidl.cli.values import load, program_options, say, usage

if TYPE_CHECKING:
    from mfidl.dynamic import Schema
    from mfidl.dynamic.names import Root

_MOST = 100_000


@click.command("vectors")
@program_options
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only of this type. May be repeated.")
@click.option(
    "--count",
    type=click.IntRange(0, _MOST),
    default=10,
    show_default=True,
    help="Random values of each type, beside those at the borders.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Other random values.")
def command(
    file: str, import_paths: tuple[str, ...], color: str, types: tuple[str, ...], count: int, seed: int
) -> None:
    """Write golden values of every type and their bytes, for tests of your own.

    A JSON object a line: {"schema", "type", "tier", "value", "hex"}; `value` as docs/json.md has it. First
    the values at the borders of each type, then random ones, all within the schema's constraints. The same
    schema and seed give the same lines. Without --type: all structs, errors, unions, enums and flags of FILE,
    and the parameters and results of its methods.
    """
    from mfidl.dynamic import Schema

    program = load(file, import_paths, color)
    schema = Schema(program)
    wanted = list(_asked(schema, types)) if types else list(_all(schema))
    for name, root in wanted:
        _write(schema, file, name, root, count, seed)


def _asked(schema: "Schema", types: tuple[str, ...]) -> "Iterator[tuple[str, Root]]":
    from mfidl import model
    from mfidl.dynamic import UnknownTypeError
    from mfidl.dynamic.codec import root_of

    for each in types:
        try:
            root = root_of(schema, each)
        except UnknownTypeError as failure:
            raise usage(failure) from None
        # What an alias asks of the value, its type does not say.
        yield each if root.constraints else model.spell(root.type), root


def _all(schema: "Schema") -> "Iterator[tuple[str, Root]]":
    from mfidl import model
    from mfidl.dynamic.names import Root

    for module in schema.program.requested:
        for declaration in module.declarations:
            if not isinstance(declaration, model.Alias):
                yield declaration.full_name, Root(declaration.reference, declaration.name)
        for service in module.services:
            for method in service.methods:
                for struct in (method.params, method.results):
                    yield struct.full_name, Root(struct.reference, struct.name)


def _write(schema: "Schema", file: str, name: str, root: "Root", count: int, seed: int) -> None:
    import json

    from mfidl.dynamic import encode, planned_tier, to_json
    from mfidl.dynamic.sample import Sampler, Undrawable
    from mfidl.explain.samples import sample

    type_, constraints = root.type, root.constraints
    tier = planned_tier(schema, type_).value
    head = f'{{"schema": {json.dumps(file)}, "type": {json.dumps(name)}, "tier": "{tier}"'
    sampler = Sampler(schema, f"{seed}/{name}", sample)
    seen = set()
    try:
        values = [
            *sampler.borders(type_, constraints),
            *(sampler.random(type_, constraints) for _ in range(count)),
        ]
    except Undrawable as reason:
        click.echo(f"mfidlc: no vectors of {name}: {reason}", err=True)
        return
    for value in values:
        data = encode(schema, type_, value).hex()
        line = f'{head}, "value": {to_json(schema, type_, value)}, "hex": "{data}"}}\n'
        if line not in seen:
            seen.add(line)
            say(line)
