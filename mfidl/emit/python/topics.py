"""F6. The view of _topics.py: the description of each topic for the runtime, two publishers and two
subscribers, blocking and for asyncio.
"""

from dataclasses import dataclass

from mfidl.emit.python.declarations import decorator, with_deprecation
from mfidl.emit.python.layout import docstring
from mfidl.emit.python.methods import text_lines
from mfidl.emit.python.names import TopicNames
from mfidl.emit.python.service_file import ServiceFile
from mfidl.emit.python.types import annotation
from mfidl.model import OVERFLOWS, Topic


@dataclass(frozen=True, slots=True)
class TopicClassView:
    decorator: str
    name: str
    base: str
    doc: str


@dataclass(frozen=True, slots=True)
class TopicView:
    """`descriptor` and `annex` are the lines of texts between three quotes."""

    constant: str
    value: str
    descriptor_name: str
    annex_name: str
    arguments: tuple[str, ...]
    descriptor: tuple[str, ...]
    annex: tuple[str, ...]
    classes: tuple[TopicClassView, ...]


class TopicsFile(ServiceFile):
    def topics(self) -> list[TopicView]:
        return [self._topic(each) for each in self._context.module.topics]

    def _topic(self, topic: Topic) -> TopicView:
        context = self._context
        names = context.names.topics[topic.full_name]
        context.imports.name("typing", "ClassVar")
        context.imports.name("typing", "Final")
        context.imports.name("mf.topics.info", "TopicInfo")
        codec = context.codec_name(topic.type.full_name, "{}_CODEC")
        agent = f'"{topic.agent.name}"' if topic.agent else "None"
        arguments = [
            f'name="{topic.full_name}"',
            f"agent={agent}",
            f"codec={codec}",
            f"descriptor={names.descriptor}",
            f"annex={names.annex}",
            f'fingerprint=bytes.fromhex("{topic.fingerprint.hex()}")',
        ]
        if topic.replay:
            arguments.append(f"replay={topic.replay}")
        if topic.overflow != OVERFLOWS:
            allowed = ", ".join(f'"{each}"' for each in topic.overflow)
            arguments.append(f"overflow=({allowed}{',' * (len(topic.overflow) == 1)})")
        value = context.type_name(topic.type.full_name)
        return TopicView(
            names.constant,
            value,
            names.descriptor,
            names.annex,
            tuple(arguments),
            text_lines(topic.descriptor),
            text_lines(topic.annex),
            tuple(
                self._class(topic, names, value, which)
                for which in ("Publisher", "Subscriber")
                for which in (which, f"Async{which}")
            ),
        )

    def _class(self, topic: Topic, names: TopicNames, value: str, which: str) -> TopicClassView:
        context = self._context
        file = "publisher" if which.endswith("Publisher") else "subscriber"
        name = {
            "Publisher": names.publisher,
            "AsyncPublisher": names.async_publisher,
            "Subscriber": names.subscriber,
            "AsyncSubscriber": names.async_subscriber,
        }[which]
        if which.startswith("Async"):
            doc = f"Like `{names.publisher if file == 'publisher' else names.subscriber}`, for asyncio."
        else:
            verb = "Publishes" if file == "publisher" else "Receives the messages of"
            doc = with_deprecation(topic.doc or f"{verb} {topic.full_name}.", topic.deprecated)
        if topic.agent is None:
            base = f"{context.imports.name(f'mf.topics.{file}', f'Lone{which}')}[{value}]"
        else:
            agent = annotation(context, topic.agent.spelled)
            base = f"{context.imports.name(f'mf.topics.{file}', f'PerAgent{which}')}[{agent}, {value}]"
        return TopicClassView(
            decorator(context, topic.deprecated).rstrip("\n"), name, base, docstring(doc, 4)
        )
