"""docs/replicated.md shows the flows as they are."""

from tests.python.replicated.diagrams import PAGE, with_diagrams


def test_the_diagrams_of_the_page_are_those_of_the_traces() -> None:
    """`python -m tests.python.replicated.diagrams` draws them anew."""
    page = PAGE.read_text("utf-8")

    assert with_diagrams(page) == page
