"""client.py FILE LETTERS COUNT [tcp://HOST:PORT]

Uploads the file, and shows the first COUNT of its lines in which these letters stand.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import mf
from glosses import LibraryClient, NoSuchFile

PIECE = 16 * 1024


def pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def upload(library: LibraryClient, path: Path) -> None:
    # A piece is read when the server has taken what came before.
    stored = library.upload("glosses", pieces(path))
    same = stored.hash == mf.hash64(path.read_text())
    how = "as they were sent" if same else "which differ from what was sent"
    print(f"stored {stored.size} bytes in {stored.lines} lines, {how}")


def follow(library: LibraryClient, letters: str, count: int) -> None:
    # The server stops searching as soon as the block is left.
    with library.find("glosses", letters) as matches:
        for match in islice(matches, count):
            print(f"{match.line}: {match.text.partition(' | ')[0]}")


def run(path: Path, letters: str, count: int, address: str) -> None:
    with mf.Client(address) as client:
        library = LibraryClient(client)
        upload(library, path)
        follow(library, letters, count)
        complete = library.last_search().complete
        print("the whole file was searched" if complete else "the search was stopped")
        try:
            for match in library.find("verbs", letters):
                print(match)
        except NoSuchFile as error:
            print(f"no file {error.name}")


if len(sys.argv) not in (4, 5):
    sys.exit(__doc__)
run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), (*sys.argv[4:], "tcp://127.0.0.1:7403")[0])
