"""Makes the corpus, or asks the plain index, by hand; from examples/testbed:

python -m corpus make FOLDER [--per-collection N]
python -m corpus query FILE.scd... --text "book at" [--limit 10]
"""

import argparse
import sys
from pathlib import Path

from corpus.plain_index import PlainIndex
from corpus.scd import ScdError, read_scd
from corpus.wordnet import make_corpus


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m corpus", description="WordNet's glosses as SCD documents"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write nouns.scd and others.scd into a folder")
    make.add_argument("folder", type=Path)
    make.add_argument(
        "--per-collection", type=int, metavar="N", help="at most N documents each; all by default"
    )
    query = commands.add_parser("query", help="rank the documents of SCD files by the plain index")
    query.add_argument("files", type=Path, nargs="+")
    query.add_argument("--text", required=True)
    query.add_argument("--limit", type=int, default=10)
    arguments = parser.parse_args()
    try:
        if arguments.command == "make":
            for path in make_corpus(arguments.folder, arguments.per_collection).values():
                print(path)
        else:
            documents = {document.doc: document for path in arguments.files for document in read_scd(path)}
            for doc, score in PlainIndex(documents.values()).query(arguments.text, arguments.limit):
                print(f"{score:6} {doc:10} {documents[doc].title}")
    except (OSError, ScdError, ValueError) as error:
        print(f"corpus: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
