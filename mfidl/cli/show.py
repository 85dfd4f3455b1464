"""F8. `mfidlc show FILE`"""

import click

from mfidl.cli.stored import refuse, runtime, tell
from mfidl.cli.values import say


@click.command("show")
@click.argument("file", metavar="FILE")
@click.option("--schema", "schema", is_flag=True, help="Print the file's descriptor and annex instead.")
def command(file: str, schema: bool) -> None:
    """Print the values of a file of values as JSON, a line each, by the schema that the file says it has.

    Exit code 1 if it is no such file, if a value is none of that schema, and if the file is cut off or
    damaged; what can be read is printed all the same.
    """
    runtime()
    from mf.core.error import Error
    from mf.values.migrated import schema_texts, shown

    try:
        if schema:
            texts = schema_texts(file)
            say(texts.descriptor + texts.annex)
            return
        wrong = None
        for each in shown(file):
            if isinstance(each, Error):
                wrong = each
                tell(each.message)
            else:
                say(each + "\n")
    except Error as failure:
        refuse(failure.code.name, failure.message)
    if wrong is not None:
        raise SystemExit(1)
