"""client.py [NAME [tcp://HOST:PORT]]"""

import sys

import mf
from hello import GreeterClient

name = sys.argv[1] if len(sys.argv) > 1 else "world"
address = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:7401"
with mf.Client(address) as client:
    print(GreeterClient(client).greet(name))
