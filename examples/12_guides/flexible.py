import mf
from mf import flex

with flex.Node(None) as node:  # flex.Node("mf://localhost:7400") reaches the processes of other programs, too
    desk, shelf = node.process("desk"), node.process("shelf")
    desk.send(dest="shelf", tag="lend", title="Emma", copies=2)
    desk.send(dest="shelf", tag="count", titles=["Emma", "Persuasion"])

    counted = shelf.recv(5.0, tag="count")  # the first that matches; the others wait
    shelf.send(dest=counted.src, tag="counted", number=len(counted.titles))
    lent = shelf.recv(5.0, tag="lend")
    print("lent:", lent.copies, "of", lent.title)
    print("counted:", desk.recv(5.0, tag="counted").number)

    try:
        desk.send(dest="attic", tag="lend", title="Emma")
    except mf.Error as error:
        print("to the attic:", error.code.name)
