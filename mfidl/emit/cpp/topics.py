"""F6. Views of topics: their descriptions, publishers and subscribers."""

from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import WIDTH, deprecation, doc, fill, raw_text
from mfidl.emit.cpp.view import TopicView
from mfidl.model import Module, Primitive, Scalar, Topic, Type, expand


def topic_view(describer: Describer, topic: Topic, module: Module) -> TopicView:
    names = describer.names.module(module.name).topic(topic)
    base = "PerAgent" if topic.agent else "Lone"
    return TopicView(
        doc=doc(topic.doc),
        full_name=topic.full_name,
        description=names.description,
        publisher=names.publisher,
        publisher_head=_head(topic, names.publisher, f"{base}Publisher<{names.description}>"),
        subscriber=names.subscriber,
        subscriber_head=_head(topic, names.subscriber, f"{base}Subscriber<{names.description}>"),
        publisher_base=f"{base}Publisher",
        subscriber_base=f"{base}Subscriber",
        value=describer.types.spell(topic.type),  # in full: the schema may have a type called Value
        agent=_agent(describer, topic),
        info=names.info,
        descriptor=names.descriptor,
        descriptor_text=raw_text(names.descriptor, topic.descriptor),
        annex=names.annex,
        annex_text=raw_text(names.annex, topic.annex),
        fingerprint=fill("    .fingerprint = {", [f"0x{byte:02x}" for byte in topic.fingerprint], "},"),
        per_agent="true" if topic.agent else "false",
        replay=str(topic.replay),
        overflow=_overflow(topic),
    )


def _head(topic: Topic, name: str, base: str) -> str:
    first, second = f"class {deprecation(topic.deprecated)}{name} final", f": public mf::topics::{base} {{"
    lone = f"{first} {second}"
    return lone if len(lone) <= WIDTH else f"{first}\n    {second}"


def _agent(describer: Describer, topic: Topic) -> tuple[str, ...]:
    if topic.agent is None:
        return ()
    if expand(topic.agent.type) == Primitive(Scalar.STRING):
        return ("  using Agent = std::string;",)
    return (f"  using Agent = {describer.types.spell(topic.agent.spelled)};",)


def _overflow(topic: Topic) -> str:
    allowed = fill(
        "    .overflow = mf::topics::any_of({", [f"mf::Overflow::{each}" for each in topic.overflow], "}),"
    )
    return f"{allowed}\n    .default_overflow = mf::Overflow::{topic.default_overflow},"


def topic_types(topic: Topic) -> list[Type]:
    """All types that the declarations of a topic name."""
    return [topic.type, *((topic.agent.spelled, topic.agent.type) if topic.agent else ())]
