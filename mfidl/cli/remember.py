"""F8. Stores a successful run of `compile` in the cache (mfidl/cache.py)."""

import os
from collections.abc import Sequence

from mfidl.cache import Run, digest, digest_file, remember
from mfidl.cli.common import told
from mfidl.compiler import Exit, Outcome, Targets


def remember_run(
    arguments: Sequence[str], files: Sequence[str], targets: Targets, outcome: Outcome, style: str, color: str
) -> None:
    """Uses the contents in memory: the files on disk may have changed since."""
    if outcome.exit is not Exit.OK or outcome.program is None or targets.generators or targets.templates:
        return
    from mfidl.emit.stream import stream_at
    from mfidl.emit.write import BuildFiles, written

    read = {source.path: digest(source.text.encode()) for source in outcome.sources}
    inputs = [(path, os.path.realpath(path), content) for path, content in read.items()]
    aliases = [(path, os.path.realpath(path), digest_file(path)) for path in files if path not in read]
    texts, shared = written(outcome.trees, BuildFiles(targets.depfile, targets.stamp, targets.outputs))
    if any(stream_at(path) is not None for path in (*shared, targets.stamp) if path is not None):
        return  # the reader of the stream wants it again
    outputs = [(path, digest(text.encode())) for path, text in texts.items()]
    outputs += [(path, content) for path in shared if (content := digest_file(path)) is not None]
    stdout, stderr = told(outcome.diagnostics, style, color == "always")
    plain = color != "auto" or not stderr
    complete = [(path, real, content) for path, real, content in aliases if content is not None]
    if len(complete) == len(aliases):
        run = Run([*inputs, *complete], list(outcome.absent), outputs, targets.stamp, stdout, stderr, plain)
        remember(arguments, run)
