"""hello.py CONTROLLER A|B: the first example of the paper: A sends B numbers, and B sends back their sum."""

import sys

from mf import flex


def main(where: str, name: str) -> None:
    with flex.Node(where, patience=60.0) as node, node.process(name) as me:
        if name == "A":
            me.send(dest="B", tag="input", data=[1, 2, 3, 4, 5])
            m = me.recv(60.0, src="B", tag=lambda tag: tag in ("sum", "error"))
            print(f"{m.src} says: the {m.tag} is {m.result}")
        else:
            m = me.recv(60.0, src="A", tag="input")
            me.send(dest=m.src, tag="sum", result=sum(m.data)).wait(60.0)


main(*sys.argv[1:])
