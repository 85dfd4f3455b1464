"""Words that make a riddle are counted in what people read, and the count of no file may rise."""

import pytest

from tools.check_words import lowered, mistakes, read_table, words, write_table


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("page.md", "Whoever asks\nis told.\n", [(1, "Whoever"), (2, "told")]),
        ("page.md", "```sh\nwho\n```\nand `who` is a command.\n", []),
        ("page.md", "See [the page](0023-who-owns.md).\n", []),
        ("page.md", "A store, wholly old, is retold.\n", []),
        ("a.py", 'who = 1  # nobody knows\nprint("who is it")\n', [(1, "nobody"), (1, "knows"), (2, "who")]),
        ("a.py", 'print(f"{who} calls")\n', []),
        ("a.py", '"""One.\n\nIt tells.\n"""\n', [(3, "tells")]),
        ("a.cpp", 'int who = 0;  // It stands\nlog("a peer was told");\n', [(1, "stands"), (2, "told")]),
        ("a.mfidl", "/* It\nlies. */\nstruct who { }\n", [(2, "lies")]),
        ("a.sh", "# who\necho who\n", [(1, "who")]),
        ("a.png", "who", []),
    ],
)
def test_words_are_found_in_what_a_person_reads(name: str, text: str, found: list[tuple[int, str]]) -> None:
    assert words(name, text) == found


def test_a_count_that_rises_and_one_that_fell_without_being_stored_are_mistakes() -> None:
    found = list(
        mistakes({"same": 1, "less": 2, "gone": 1, "more": 1}, {"same": 1, "less": 1, "more": 2, "new": 1})
    )

    assert [one.split(", ")[0].split(" where")[0] for one in found] == [
        "gone: 0 words",
        "less: 1 words",
        "more: 2 words such as 'who' and 'told'",
        "new: 1 words such as 'who' and 'told'",
    ]


def test_storing_lowers_counts_and_raises_none() -> None:
    table = lowered({"same": 1, "less": 2, "gone": 1, "more": 1}, {"same": 1, "less": 1, "more": 2, "new": 1})

    assert table == {"same": 1, "less": 1, "more": 1}
    assert read_table(write_table(table)) == table
