"""server.py [tcp://HOST:PORT]"""

import sys

import mf
from hello import GreeterServant


class Greeter(GreeterServant):
    def greet(self, name: str) -> str:
        return f"Hello, {name}, from Python!"


server = mf.Server(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:7401")
server.offer(Greeter())
server.start()
print(server.address, flush=True)
server.run()
