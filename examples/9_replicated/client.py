"""Writes and reads values.

python client.py mf://127.0.0.1:7400 put colour green --flow chain --require all
python client.py mf://127.0.0.1:7400 get colour
"""

import argparse

import mf
from kv import StoreClient

FLOWS = (
    "no_versioning",
    "version_request",
    "message_returns_version",
    "one_hop",
    "one_hop_ack_client",
    "wait_for_version",
    "chain",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("controller")
    parser.add_argument("what", choices=("put", "get"))
    parser.add_argument("key")
    parser.add_argument("value", nargs="?", default="")
    parser.add_argument("--flow", choices=FLOWS, default="one_hop_ack_client")
    parser.add_argument("--require", choices=("one", "majority", "all"), default="majority")
    given = parser.parse_args()
    with mf.Client(given.controller) as client:
        store = StoreClient(client)
        if given.what == "get":
            print(store.get(given.key))
            return
        put = getattr(store, f"put_{given.flow}")
        done = put(
            given.key, given.value, options=mf.ReplicatedOptions(require=mf.Require[given.require.upper()])
        )
        print(f"version {done.version}, applied by {', '.join(done.applied)}")


if __name__ == "__main__":
    main()
