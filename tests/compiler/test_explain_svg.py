"""`mfidlc explain --svg`: pictures of layouts."""

import re
from pathlib import Path
from xml.etree import ElementTree

from mfidl.explain import explain
from mfidl.explain.svg import document, pictures
from tests.compiler.schema import program_of
from tests.compiler.test_cli import mfidlc

SVG = "{http://www.w3.org/2000/svg}"
SCHEMA = """module demo.shapes;
struct Place { x: f64; y: f64; floor: u8; }
struct Hit { doc: u32; score: f32; where: Place; name: array<u8, 40>; }
struct Person { name: string; age: u8; }
enum Kind: u8 { A = 1 }
service Index { find(text: string, most: u32) -> list<Hit>; }
"""


def _boxes(picture: ElementTree.Element) -> list[tuple[str, int, int, str]]:
    """(class, column of the first byte, number of bytes, what the pointer is shown), from top to bottom."""
    found = []
    for group in picture.iter(f"{SVG}g"):
        box, tip = group.find(f"{SVG}rect"), group.findtext(f"{SVG}title")
        if box is not None and tip is not None and not tip.startswith("struct"):
            left, width = float(box.attrib["x"]), float(box.attrib["width"])
            found.append((box.attrib["class"], round((left - 57) / 66), round((width + 2) / 66), tip))
    return found


def test_a_box_is_where_its_field_is_in_memory(tmp_path: Path) -> None:
    drawn = list(pictures(explain(program_of(tmp_path, SCHEMA), "Place")))
    assert [each.name for each in drawn] == ["struct Place"]
    boxes = _boxes(ElementTree.fromstring(drawn[0].element))
    assert boxes == [
        ("hue0", 0, 8, "x: f64, bytes 0 to 7"),
        ("hue1", 0, 8, "y: f64, bytes 8 to 15"),
        ("hue2", 0, 1, "floor: u8, byte 16"),
        ("padding", 1, 7, "padding, bytes 17 to 23"),
    ]


def test_the_middle_of_a_long_field_is_left_out(tmp_path: Path) -> None:
    [drawn] = pictures(explain(program_of(tmp_path, SCHEMA), "Hit"))
    texts = [each.text for each in ElementTree.fromstring(drawn.element).iter(f"{SVG}text")]
    offsets = [each for each in texts if each is not None and (each == "⋮" or each.isdigit())][8:]
    assert offsets == ["0", "8", "16", "24", "32", "⋮", "64"]


def test_a_type_without_a_layout_shows_its_fields_in_order(tmp_path: Path) -> None:
    [drawn] = pictures(explain(program_of(tmp_path, SCHEMA), "Person"))
    texts = [each.text for each in ElementTree.fromstring(drawn.element).iter(f"{SVG}text")]
    assert texts == [
        "struct Person", "febird, 2 bytes or more",
        "1", "name", "string", "1 byte or more",
        "2", "age", "u8", "1 byte",
    ]  # fmt: skip


def test_a_method_shows_its_request_and_its_reply(tmp_path: Path) -> None:
    drawn = pictures(explain(program_of(tmp_path, SCHEMA), "Index.find"))
    assert [each.name for each in drawn] == ["Index.find, request", "Index.find, reply"]


def test_names_are_escaped(tmp_path: Path) -> None:
    [drawn] = pictures(explain(program_of(tmp_path, "module a;\nstruct B { m: map<string, u8>; }\n")))
    assert "map&lt;string, u8&gt;" in drawn.body
    assert "map<" not in drawn.element


def test_one_file_has_all_types_below_each_other_in_both_colours(tmp_path: Path) -> None:
    drawn = list(pictures(explain(program_of(tmp_path, SCHEMA))))
    assert [each.name for each in drawn] == ["struct Place", "struct Hit", "struct Person"]
    whole = ElementTree.fromstring(document(drawn))
    assert float(whole.attrib["height"]) == sum(each.height for each in drawn)
    style = whole.findtext(f"{SVG}style")
    assert style is not None
    assert re.findall(r"--paper: (#\w+)", style) == ["#fff", "#15181c"]
    assert style.count("prefers-color-scheme: dark") == 1


def test_the_command_prints_a_file_or_says_why_not(tmp_path: Path) -> None:
    (tmp_path / "shapes.mfidl").write_text(SCHEMA)
    done = mfidlc("explain", "shapes.mfidl", "--svg", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert ElementTree.fromstring(done.stdout).tag == f"{SVG}svg"
    both = mfidlc("explain", "shapes.mfidl", "--svg", "--json", cwd=tmp_path)
    assert both.returncode == 2
    assert "Give --json or --svg, not both." in both.stderr
    nothing = mfidlc("explain", "shapes.mfidl", "Kind", "--svg", cwd=tmp_path)
    assert nothing.returncode == 2
    assert "Nothing here has a layout" in nothing.stderr
