"""docs/pictures has what tools/pictures.py draws, and pages show all of it."""

import re
from xml.etree import ElementTree

from tools.pictures import FOLDER, ROOT, Message, Note, drawn, flow, flows

SVG = "{http://www.w3.org/2000/svg}"
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_the_pictures_are_those_that_the_tool_draws() -> None:
    """`python -m tools.pictures` draws them anew."""
    found = {each.name: each.read_text("utf-8") for each in FOLDER.glob("*.svg")}
    assert found == drawn()


def test_each_picture_is_on_a_page() -> None:
    shown = {
        name for page in PAGES for name in re.findall(r"\(pictures/([\w-]+\.svg)\)", page.read_text("utf-8"))
    }
    assert shown == set(drawn())


def test_a_picture_is_one_file_in_both_colours() -> None:
    for name, text in drawn().items():
        whole = ElementTree.fromstring(text)
        assert whole.findtext(f"{SVG}g/{SVG}title"), name
        assert "prefers-color-scheme: dark" in (whole.findtext(f"{SVG}style") or ""), name


def test_arrows_lead_from_the_sender_to_the_receiver_in_the_order_of_the_messages() -> None:
    steps = (Message("a", "b", "ask"), Note("b", "it thinks"), Message("b", "a", "<answer>", answers=True))
    found = flow("Two", ("a", "b"), steps, column=100)
    whole = ElementTree.fromstring(found.element)
    arrows = [each for each in whole.iter(f"{SVG}path") if "arrow" in each.attrib["class"]]
    assert [each.attrib["d"] for each in arrows] == ["M76 96H168", "M176 168H84"]
    assert ["dashed" in each.attrib["class"] for each in arrows] == [False, True]
    texts = [each.text for each in whole.iter(f"{SVG}text")]
    assert texts == ["Two", "a", "b", "ask", "it thinks", "<answer>"]
    assert found.words == "Two: a to b: ask; (it thinks); b to a: <answer>"


def test_there_is_a_flow_of_each_pattern_of_replicated_messages() -> None:
    page = (ROOT / "docs/replicated.md").read_text("utf-8")
    headings = re.findall(
        r"^### (\w+)$", page.partition("## The flows")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert headings == list(flows())
    assert len(headings) == 7
