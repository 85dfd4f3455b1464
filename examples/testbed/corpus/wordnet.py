"""Turns WordNet's glosses into SCD documents, in two collections: nouns, and others.

Reads the data files of Debian's wordnet-base (format: wndb(5WN)), one synset a line:

    offset lex_filenum ss_type w_cnt  (word lex_id){w_cnt}  p_cnt pointers…  [frames…]  "|" gloss

with w_cnt in hexadecimal. A synset becomes one document: its words are the title, its gloss the content, and
its DOCID is the part of speech (1 noun, 2 verb, 3 adjective, 4 adverb) times 10^8 plus the offset: unique in
both collections, and the same on every machine. The lines that open with two spaces are the licence.
"""

from collections.abc import Iterator
from pathlib import Path

from corpus.scd import Document, write_scd

FOLDER = Path("/usr/share/wordnet")
COLLECTIONS = {"nouns": ("noun",), "others": ("verb", "adj", "adv")}

_PART_OF_SPEECH = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}
_SYNTACTIC_MARKERS = ("(a)", "(p)", "(ip)")  # on adjectives: where they may stand in a sentence


def make_corpus(out: Path, per_collection: int | None = None, folder: Path = FOLDER) -> dict[str, Path]:
    """Writes out/<collection>.scd for each collection and returns the files by collection.

    With `per_collection`, at most that many documents each, spread evenly over the whole of it.
    """
    if per_collection is not None and per_collection < 1:
        raise ValueError("per_collection must be at least 1")
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for collection in COLLECTIONS:
        files[collection] = out / f"{collection}.scd"
        documents = list(collection_documents(collection, folder))
        write_scd(files[collection], spread(documents, per_collection or len(documents)))
    return files


def spread(documents: list[Document], count: int) -> list[Document]:
    """`count` documents at even distances, in order; all of them when there are not more."""
    count = min(count, len(documents))
    return [documents[i * len(documents) // count] for i in range(count)]


def collection_documents(collection: str, folder: Path = FOLDER) -> Iterator[Document]:
    for part in COLLECTIONS[collection]:
        path = folder / f"data.{part}"
        try:
            lines = path.open(encoding="ascii")
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path} is missing: install Debian's package wordnet-base (tools/bootstrap core)"
            ) from None
        with lines:
            for number, line in enumerate(lines, start=1):
                if not line.startswith("  "):
                    yield synset(line, _PART_OF_SPEECH[part], f"{path}:{number}")


def synset(line: str, part_of_speech: int, where: str) -> Document:
    head, bar, gloss = line.partition(" | ")
    fields = head.split(" ")
    try:
        offset, word_count = int(fields[0]), int(fields[3], 16)
    except (IndexError, ValueError):
        bar, offset, word_count = "", 0, 0
    if not bar or word_count < 1 or len(fields) < 4 + 2 * word_count:
        raise ValueError(f"{where}: this is no synset of WordNet 3.0")
    title = ", ".join(_plain(word) for word in fields[4 : 4 + 2 * word_count : 2])
    return Document(part_of_speech * 100_000_000 + offset, title, gloss.strip())


def _plain(word: str) -> str:
    for marker in _SYNTACTIC_MARKERS:
        word = word.removesuffix(marker)
    return word.replace("_", " ")
