"""The corpus made of WordNet: whole, unique, the same every time, and readable as SCD."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.scd import Document, read_scd
from corpus.wordnet import COLLECTIONS, make_corpus, synset

ROOT = Path(__file__).resolve().parents[2]
ABLE = "00001740 00 a 01 able(p) 0 002 = 05200169 n 0000 + 05616246 n 0101 | having the means  \n"


def digests(files: dict[str, Path]) -> dict[str, str]:
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def test_the_whole_of_wordnet_becomes_two_collections_without_a_shared_number(tmp_path: Path) -> None:
    files = make_corpus(tmp_path)

    numbers = {name: {document.doc for document in read_scd(path)} for name, path in files.items()}

    assert {name: len(found) for name, found in numbers.items()} == {"nouns": 82115, "others": 35544}
    assert not numbers["nouns"] & numbers["others"]


def test_a_part_of_it_is_spread_over_the_whole_and_the_same_every_time(tmp_path: Path) -> None:
    first = make_corpus(tmp_path / "first", per_collection=1000)
    second = make_corpus(tmp_path / "second", per_collection=1000)

    assert digests(first) == digests(second)
    documents = list(read_scd(first["others"]))
    assert len(documents) == 1000
    assert {document.doc // 100_000_000 for document in documents} == {2, 3, 4}


def test_a_synset_gives_number_title_and_content_without_its_markers() -> None:
    assert synset(ABLE, 3, "data.adj:30") == Document(300001740, "able", "having the means")


def test_the_words_of_a_synset_are_counted_in_hexadecimal() -> None:
    words = [f"great_word{i}" for i in range(16)]

    document = synset(f"00000001 00 n 10 {' '.join(f'{word} 0' for word in words)} 000 | x", 1, "here")

    assert document.title.split(", ") == [f"great word{i}" for i in range(16)]


@pytest.mark.parametrize(
    "line", ["", "00001740 00 a", ABLE.replace(" | ", " "), ABLE.replace(" 01 ", " zz "), "1 0 n ff x 0 | y"]
)
def test_a_line_that_is_no_synset_is_refused_with_its_place(line: str) -> None:
    with pytest.raises(ValueError, match=r"data\.adj:30: this is no synset"):
        synset(line, 3, "data.adj:30")


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="install Debian's package wordnet-base"):
        make_corpus(tmp_path / "out", folder=tmp_path / "nowhere")


def test_the_command_makes_a_corpus_and_ranks_it(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "corpus", *arguments]
        return subprocess.run(
            command, cwd=ROOT / "examples/testbed", check=False, capture_output=True, text=True
        )

    made = run("make", str(tmp_path), "--per-collection", "200")
    assert made.stdout.splitlines() == [str(tmp_path / f"{name}.scd") for name in COLLECTIONS]

    asked = run("query", *made.stdout.splitlines(), "--text", "the", "--limit", "3")
    assert asked.returncode == 0
    assert len(asked.stdout.splitlines()) == 3

    (tmp_path / "bad.scd").write_text("<DOCID>x\n", encoding="ascii")
    refused = run("query", str(tmp_path / "bad.scd"), "--text", "the")
    assert refused.returncode == 1
    assert "bad.scd:1: " in refused.stderr
