"""Opens the playground in a browser without a sign of its key in the list of processes, which other users of
the machine can read: the browser is given a page in a private folder, which leads to the address.
"""

import html
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">\n'


@contextmanager
def opened(address: str) -> Iterator[None]:
    """The page is there until the end of the block. Raises OSError if it cannot be written."""
    with tempfile.TemporaryDirectory(prefix="mfidlc-") as folder:  # no other user may enter it
        page = Path(folder) / "playground.html"
        page.touch(0o600)
        page.write_text(_PAGE.format(address=html.escape(address)), encoding="utf-8")
        webbrowser.open(page.as_uri())
        yield
