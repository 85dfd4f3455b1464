"""The files that `mf record` writes."""

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from mf_tools.guard import USAGE, CommandError
from mf_tools.output import note
from mf_tools.tapping import Seen

if TYPE_CHECKING:
    from mf.described import Description


class RecordFile:
    """A new file that only its user reads. Each line is written at once, so that all but the last are whole,
    whatever ends this process. `count`: of what counts among them."""

    def __init__(self, path: str) -> None:
        """Ends the command if it is there already, and so if another one records to it."""
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise CommandError(f"'{path}' is there already: it is not overwritten", USAGE) from None
        self.count = 0

    def write(self, value: dict[str, Any], *, counts: bool = False) -> None:
        """Raises OSError where it cannot be written as a whole: the disk is full."""
        data = memoryview(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        while data:
            data = data[os.write(self._descriptor, data) :]
        self.count += counts

    def close(self) -> None:
        """Says how much was recorded."""
        os.close(self._descriptor)
        note(f"recorded {self.count}")


class CallRecords:
    """A sink of taps that writes calls to a file, without their callers. The file is made when the servers
    have let this side in."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._out: RecordFile | None = None
        self._first: int | None = None
        self._described: dict[tuple[str, str, str], int] = {}
        self._counts: Counter[str] = Counter()
        self._withheld = ""
        """Why the first value that is missing is."""

    def begin(self) -> None:
        import mf
        from mf import described

        self._out = RecordFile(self._path)
        self._out.write(described.CallRecording.head(json.loads(mf.to_json(mf.Timestamp.now()))))

    def take(self, seen: Seen) -> None:
        from mf import described

        assert self._out is not None, "begin() comes first"
        call = seen.call
        if self._first is None:
            self._first = int(call.begun)
        made: dict[str, Any] = {"t": described.Recording.between(self._first, int(call.begun))}
        if seen.service is not None:
            made["of"] = self._number(self._out, seen.service.description)
        made |= {"service": call.service, "method": call.method, "agent": call.agent}
        if seen.request:
            made["arguments"] = json.loads(seen.request)
        made |= {"code": seen.code, "took": call.took.to_seconds()}
        if seen.result:
            made["result"] = json.loads(seen.result)
        if call.error:
            made["error"] = call.error
        if call.is_stream:
            made["stream"] = True
        self._out.write(made, counts=True)
        self._count(seen)

    def _count(self, seen: Seen) -> None:
        call = seen.call
        self._withheld = self._withheld or seen.withheld
        self._counts["dropped"] += call.dropped
        if call.is_stream:
            self._counts["streams"] += 1
        elif not seen.request:
            self._counts["without arguments"] += 1
        elif not seen.result and call.result is None and _has_result(seen):
            self._counts["without a result"] += 1

    def _number(self, out: RecordFile, of: "Description") -> int:
        from mf import described

        key = (of.name, of.descriptor, of.annex)
        number = self._described.get(key)
        if number is None:
            number = self._described[key] = len(self._described)
            out.write(described.CallRecording.described(number, of))
        return number

    def close(self) -> None:
        """Says what was recorded, and what was not."""
        if self._out is None:
            return
        self._out.close()
        counts = self._counts
        if counts["dropped"]:
            note(f"{counts['dropped']} calls were missed: this side was too slow")
        if counts["streams"]:
            note(f"{counts['streams']} have a stream, whose values are not recorded")
        for what in ("without arguments", "without a result"):
            if counts[what]:
                note(f"{counts[what]} are recorded {what}{': ' * bool(self._withheld)}{self._withheld}")


def _has_result(seen: Seen) -> bool:
    """Whether it has ended well, and a result was to be seen."""
    if seen.service is None or seen.call.code:
        return False
    method = seen.service.methods.get(seen.call.method)
    return method is not None and bool(method.schema.results.fields)
