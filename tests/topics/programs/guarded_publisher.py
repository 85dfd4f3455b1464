"""guarded_publisher.py LISTEN CONTROLLER: a subscriber that is not "desk" gets only what is public from
it."""

import sys

from events import AdditionsPublisher, Indexed

import mf


def may(access: mf.TopicAccess) -> bool:
    if access.action is mf.TopicAction.PUBLISH or access.agents.startswith("public."):
        return True
    return access.authentication == b"desk"


topics = mf.Topics(mf.TopicsOptions(authorize=may))
additions = AdditionsPublisher(topics)
for agent in ("public.books", "secret.books"):
    additions.at(agent).publish(Indexed(7, "seven"))
server = mf.Server(sys.argv[1], sys.argv[2])
server.offer(topics)
server.start()
print(server.address, flush=True)
server.run()
