"""counter.py ADDRESS POLICY MESSAGES: keeps a live count of the additions to each collection, of what the
index there publishes, with a queue of so many messages and a policy for what finds no room in it. Ends behind
the last addition of each collection, and says what it has counted and missed; it leaves at a line on standard
input.
"""

import sys
from collections import Counter

from events import AdditionsSubscriber

import mf


def main() -> None:
    address, policy, messages = sys.argv[1], mf.Overflow[sys.argv[2]], int(sys.argv[3])
    counted: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    ended = 0
    options = mf.SubscribeOptions(overflow=policy, max_messages=messages)
    with mf.Client(address) as client, AdditionsSubscriber(client, "*", options) as additions:
        for message in additions:
            counted[message.agent] += 1
            missed[message.agent] += message.missed
            ended += message.value.title == "the last one"
            if ended == 3:
                break
        for collection in sorted(counted):
            print(f"{collection}: {counted[collection]} counted, {missed[collection]} missed", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    main()
