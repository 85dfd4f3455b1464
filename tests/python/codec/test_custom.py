"""Tier custom: values of a user's codec in every tier; calls with archive and custom values, end to end."""

import sys
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import pytest

import mf
from mf.codec import custom, lookup, shape
from mf.codec.fault import Fault
from tests.python.codec.archives import Archives


class Colour:
    def __init__(self, name: str = "black") -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Colour) and other.name == self.name

    __hash__ = None  # type: ignore[assignment]


class ColourCodec:
    """Static: nothing is made of it."""

    Value = Colour

    @staticmethod
    def encode(value: Colour) -> bytes:
        return value.name.encode("ascii")

    @staticmethod
    def decode(data: bytes) -> Colour:
        return Colour(data.decode("ascii"))


class Width:
    """An object with a state; its values are plain numbers."""

    Value = int

    def __init__(self) -> None:
        self.size = 3

    def encode(self, value: int) -> bytes:
        return value.to_bytes(self.size, "big")

    def decode(self, data: bytes) -> int:
        if len(data) != self.size:
            raise ValueError(f"{len(data)} bytes, not {self.size}")
        return int.from_bytes(data, "big")


class Wrong:
    Value = str

    @staticmethod
    def encode(value: str) -> Any:
        return value

    @staticmethod
    def decode(data: bytes) -> str:
        raise RuntimeError(f"{data!r} is never read")


class Forgetful:
    """Its `decode` lacks the return."""

    Value = str

    @staticmethod
    def encode(value: str) -> bytes:
        return value.encode()

    @staticmethod
    def decode(data: bytes) -> Any:
        data.decode()


SCHEMA = """module customs;
@tier(custom) @python.codec("customs_codecs:Forgetful") struct Forgetful;
@tier(archive) struct Hollow { 1: held: Forgetful; }
@tier(custom) @python.codec("customs_codecs:ColourCodec") struct Colour;
@tier(custom) @python.codec("customs_codecs:inner.Width") struct Width;
@tier(custom) @python.codec("customs_codecs:Wrong") struct Wrong;
@tier(custom) @python.codec("customs_codecs:Absent") struct Absent;
@tier(custom) @python.codec("nowhere.at_all:Codec") struct Nowhere;
@tier(custom) @cpp.codec("a.hpp", "a::A", "a::C") struct CppOnly;
@tier(archive) struct Pixel { 1: at: u32; 2: colour: Colour; 3: widths: list<Width>; 4: maybe: Colour?; }
@tier(archive) struct Node { 1: name: string; 2: next: ref<Node>?; 3: colour: Colour; }
@tier(archive) union Shape { 1: colour: Colour; 2: node: ref<Node>; }
struct Picture { pixels: list<Pixel>; colours: map<string, Colour>; width: Width; node: Node; shape: Shape; }
struct Lost { value: Nowhere?; other: Absent?; wrong: Wrong?; cpp: CppOnly?; }
error Bad { pixel: Pixel; colour: Colour; node: Node; }
service Studio {
  @idempotent paint(node: Node, colour: Colour, pixel: Pixel) -> Picture throws Bad;
  both(pixel: Pixel) -> (pixel: Pixel, node: Node);
  count(nodes: list<Node>) -> u32;
  @oneway drop(node: Node);
}
"""


@cache
def schema() -> Archives:
    module: Any = types.ModuleType("customs_codecs")
    module.Forgetful = Forgetful
    module.ColourCodec, module.Wrong, module.inner = ColourCodec, Wrong, types.SimpleNamespace(Width=Width)
    sys.modules["customs_codecs"] = module
    return Archives(SCHEMA)


def picture() -> Any:
    p = schema().package
    node = p.Node("a", None, Colour("red"))
    node.next = node
    pixels = [p.Pixel(1, Colour("blue"), [1, 2]), p.Pixel(2, Colour(), [], Colour(""))]
    return p.Picture(pixels, {"x": Colour("y")}, 7, node, p.ShapeNode(node))


def test_custom_values_in_every_tier() -> None:
    codec, value = schema().codec("Picture"), picture()
    data = codec.encode(value)
    assert codec.decode(data) == value
    assert bytes(schema().codec("Colour").encode(Colour("blue"))) == b"blue"
    assert schema().codec("Width").decode(b"\0\1\0") == 256
    assert bytes(schema().codec("Pixel").encode(value.pixels[0])).hex() == "0801" + "1204" + b"blue".hex() + (
        "1a03000001" + "1a03000002"
    )
    assert (
        schema().message("Pixel").FromString(bytes(schema().codec("Pixel").encode(value.pixels[0]))).at == 1
    )
    assert (schema().package.Pixel().colour, schema().package.Picture().width) == (Colour(), 0)


class Narrow(Colour):
    """Of a class derived from the codec's."""


def test_custom_values_stand_alone() -> None:
    p = schema().package
    red = Colour("red")
    data = mf.to_bytes(red)
    assert data == b"red" == mf.to_bytes(Narrow("red")) == mf.to_bytes(red, p.COLOUR_CODEC.shape)
    assert mf.from_bytes(Colour, data) == red
    assert mf.hash64(red) == mf.hash64(red, p.COLOUR_CODEC.shape)
    assert mf.hash37(red) == ord("r") * 37 * 37 + ord("e") * 37 + ord("d")
    text = mf.to_json(red)
    assert text == '"cmVk"'
    assert mf.from_json(Colour, text) == red
    listed = mf.to_bytes([red, Colour()], list[Colour])
    assert listed == b"\x02\x03red\x05black"
    assert mf.from_bytes(list[Colour], listed) == [red, Colour()]
    assert mf.from_json(dict[str, Colour], '{"a":"cmVk"}') == {"a": red}
    assert mf.to_bytes(None, Colour | None) == b"\0"
    assert mf.to_bytes([7], list[p.WIDTH_CODEC.shape]) == b"\x01\x03\0\0\x07"  # type: ignore[name-defined]


def test_a_custom_value_alone_that_is_wrong_is_named() -> None:
    with pytest.raises(
        mf.Error, match=r"^INVALID_ARGUMENT: Colour: the codec of customs\.Colour refused it: Unicode"
    ):
        mf.to_bytes(Colour("é"))
    readings: list[tuple[Any, Any]] = [(mf.from_bytes, b"\xff"), (mf.from_json, '"/w=="')]
    for read, wrong in readings:
        with pytest.raises(mf.DecodeError) as caught:
            read(Colour, wrong)
        assert (caught.value.fault, caught.value.path) == (Fault.CUSTOM_CODEC_FAILED, "Colour")


class Refusing(ColourCodec):
    """What it raises is nothing that the runtime expects of a value."""

    @staticmethod
    def encode(value: Colour) -> bytes:
        if value.name == "error":
            raise mf.Error(mf.Code.OVERLOADED, "hm")
        if value.name == "other":
            raise RuntimeError("hm")
        return cast("bytes", "no bytes")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("error", "refused it: Overloaded: OVERLOADED: hm"),
        ("other", "refused it: RuntimeError: hm"),
        ("text", "made 'no bytes', and not bytes"),
    ],
)
def test_whatever_a_codec_raises_json_says_as_bytes_do(
    name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixel = schema().package.Pixel(1, Colour(name), [])
    codec = custom.user_codec("customs_codecs", "ColourCodec")
    monkeypatch.setattr(codec, "encode", Refusing.encode)

    for write in (mf.to_bytes, mf.to_json):
        with pytest.raises(mf.Error) as caught:
            write(pixel)
        assert (caught.value.code, caught.value.execution) == (
            mf.Code.INVALID_ARGUMENT,
            mf.Execution.NOT_EXECUTED,
        )
        assert caught.value.message.startswith(f"Pixel.colour: the codec of customs.Colour {reason}")


def test_what_is_no_class_of_one_codec_is_told() -> None:
    with pytest.raises(TypeError, match="this is a name that type checkers follow"):
        mf.from_bytes(schema().package.Colour, b"red")
    with pytest.raises(TypeError, match="int does not say how wide"):
        mf.to_bytes(7)
    shape.Custom("customs.Same", __name__, "SameCodec")
    try:
        with pytest.raises(TypeError, match=r"several codecs \(customs.Colour, customs.Same\)"):
            lookup.codec_of(set[Colour])
    finally:
        shape.CUSTOMS.pop()


class SameCodec(ColourCodec):
    pass


def test_a_codec_that_returns_nothing_has_failed() -> None:
    hollow = schema().package.Hollow("x")
    for read, data in ((mf.from_bytes, mf.to_bytes(hollow)), (mf.from_json, mf.to_json(hollow))):
        with pytest.raises(mf.DecodeError, match="made None of it") as caught:
            cast("Any", read)(schema().package.Hollow, data)
        assert caught.value.fault is Fault.CUSTOM_CODEC_FAILED
        assert caught.value.path == "Hollow.held"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (
            lambda v: v.colours.update(x=Colour("é")),
            "Picture.colours['x']: the codec of customs.Colour refused it: Uni",
        ),
        (
            lambda v: v.pixels[0].widths.append(1 << 24),
            "Picture.pixels[0].widths[2]: the codec of customs.Width refu",
        ),
        (
            lambda v: setattr(v.node, "colour", 7),
            "Picture.node.node[0].colour: the codec of customs.Colour refused",
        ),
    ],
)
def test_what_a_codec_does_not_write_is_an_invalid_argument(change: Any, where: str) -> None:
    value = picture()
    change(value)
    with pytest.raises(mf.Error) as caught:
        schema().codec("Picture").encode(value)
    assert caught.value.code is mf.Code.INVALID_ARGUMENT
    assert caught.value.message.startswith(where)


@pytest.mark.parametrize(
    ("name", "data", "offset", "path"),
    [
        ("Colour", "c3a9", 0, "Colour"),
        ("Width", "00", 0, "Width"),
        ("Pixel", "0801 1202c3a9", 4, "Pixel.colour"),
        ("Pixel", "0801 1200 1a020001", 6, "Pixel.widths[0]"),
        ("Picture", "00 01 0178 02c3a9", 5, "Picture.colours[0]"),
    ],
)
def test_what_a_codec_does_not_read_is_located(name: str, data: str, offset: int, path: str) -> None:
    with pytest.raises(mf.DecodeError, match=r"the codec of customs\.\w+ refused it") as caught:
        schema().codec(name).decode(bytes.fromhex(data))
    refused = caught.value
    assert (refused.fault, refused.offset, refused.path) == (mf.Fault.CUSTOM_CODEC_FAILED, offset, path)


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("value", "the codec nowhere.at_all:Codec cannot be imported: ModuleNotFoundError"),
        ("other", "the codec customs_codecs:Absent cannot be imported: AttributeError"),
        ("cpp", "the schema names no codec for Python"),
        ("wrong", "the codec of customs.Wrong made 'text', and not bytes"),
    ],
)
def test_a_codec_that_is_none_is_named(field: str, reason: str) -> None:
    p, codec = schema().package, schema().codec("Lost")
    assert codec.decode(codec.encode(p.Lost())) == p.Lost()
    with pytest.raises(mf.Error, match=reason):
        codec.encode(p.Lost(**{field: "text"}))


def studio() -> Any:
    p = schema().package

    class Studio(p.StudioServant):  # type: ignore[misc, name-defined]
        dropped: list[Any] = []  # noqa: RUF012

        def paint(self, node: Any, colour: Colour, pixel: Any) -> Any:
            if colour.name == "bad":
                raise p.Bad(pixel, colour, node)
            return p.Picture([pixel], {"it": colour}, pixel.at, node, p.ShapeColour(colour))

        def both(self, pixel: Any) -> Any:
            return p.StudioBothResult(pixel, p.Node("both", None, pixel.colour))

        def count(self, nodes: list[Any]) -> int:
            return len(nodes)

        def drop(self, node: Any) -> None:
            self.dropped.append(node)

    return Studio()


@pytest.fixture(params=["light", "tcp"])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "light":
        light = mf.Light()
        light.offer(studio())
        yield schema().package.StudioClient(mf.Client(light))
        return
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(studio())
    server.start()
    connected = mf.Client(server.address)
    yield schema().package.StudioClient(connected)
    connected.close()
    server.stop()


def test_a_wrong_object_in_a_call_is_named() -> None:
    p = schema().package
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(studio())
    server.start()
    client = mf.Client(server.address)
    with pytest.raises(mf.Error, match=r"customs\.Studio\.paint: node\.node\[1\]\.name: expected str, got 5"):
        p.StudioClient(client).paint(p.Node("x", p.Node(5)), Colour(), p.Pixel())
    client.close()
    server.stop()


def test_calls_batches_and_errors(client: Any) -> None:
    p = schema().package
    node = p.Node("root", p.Node("next", None, Colour("n")), Colour("c"))
    node.next.next = node
    pixel = p.Pixel(3, Colour("px"), [4])
    made = client.paint(node, Colour("it"), pixel)
    assert made == p.Picture([pixel], {"it": Colour("it")}, 3, node, p.ShapeColour(Colour("it")))
    assert made.node.next.next is made.node
    with pytest.raises(p.Bad) as caught:
        client.paint(node, Colour("bad"), pixel)
    assert (caught.value.pixel, caught.value.colour, caught.value.node) == (pixel, Colour("bad"), node)
    assert client.both(pixel).node == p.Node("both", None, Colour("px"))
    assert client.count([node, node]) == 2
    client.drop(node)

    requests = [p.StudioPaintRequest(node, Colour(name), pixel) for name in ("a", "bad", "b")]
    first, second, third = client.paint_bulk(requests)
    assert (first.value().colours, third.value().node) == ({"it": Colour("a")}, node)
    with pytest.raises(p.Bad) as caught:
        second.value()
    assert caught.value.node == node
    outcomes = client.both_batch([p.StudioBothRequest(pixel)] * 5).results()
    assert [each.value().pixel for each in outcomes] == [pixel] * 5
