"""F6. Views of topics: their descriptions, publishers and subscribers."""

from mfidl.emit.cpp.structs import Describer
from mfidl.emit.cpp.text import deprecation, doc, own_lines, raw
from mfidl.emit.cpp.view import TopicView
from mfidl.model import Module, Primitive, Scalar, Topic, Type, expand


def topic_view(describer: Describer, topic: Topic, module: Module) -> TopicView:
    names = describer.names.module(module.name).topic(topic)
    parted = describer.has_types(topic.descriptor)
    return TopicView(
        doc=doc(topic.doc),
        attribute=deprecation(topic.deprecated),
        full_name=topic.full_name,
        description=names.description,
        publisher=names.publisher,
        subscriber=names.subscriber,
        value=describer.types.spell(topic.type),  # in full: the schema may have a type called Value
        agent=_agent(describer, topic),
        info=names.info,
        descriptor=names.descriptor,
        descriptor_text=raw(own_lines(topic.descriptor) if parted else topic.descriptor),
        annex=names.annex,
        annex_text=raw(own_lines(topic.annex) if parted else topic.annex),
        fingerprint=topic.fingerprint.hex(),
        parted=parted,
        replay=topic.replay,
        overflow=", ".join(f"mf::Overflow::{each}" for each in topic.overflow),
        default_overflow=str(topic.default_overflow),
    )


def _agent(describer: Describer, topic: Topic) -> str:
    if topic.agent is None:
        return ""
    text = expand(topic.agent.type) == Primitive(Scalar.STRING)
    return "std::string" if text else describer.types.spell(topic.agent.spelled)


def topic_types(topic: Topic) -> list[Type]:
    """All types that the declarations of a topic name."""
    return [topic.type, *((topic.agent.spelled, topic.agent.type) if topic.agent else ())]
