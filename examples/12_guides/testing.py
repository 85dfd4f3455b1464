import mf
from guide import NoSuchBook, ShelfClient, ShelfServant
from mf.testing import Channel, FakeClock, Operation, Recorder, script


def copies(title: str) -> int:
    if title != "Emma":
        raise NoSuchBook(title)
    return 3


with FakeClock().installed() as clock:  # time passes when the test says so
    recorder = Recorder()
    with Channel(script(ShelfServant, recorder, copies=copies), "north") as channel:
        shelf = ShelfClient(channel.client).at("north")
        print("copies:", shelf.copies("Emma"))
        began = clock.now
        channel.faults.drop(Operation.REPLY, passes=1)  # the next reply is lost, and a second passes
        try:
            shelf.copies("Emma", options=mf.CallOptions(deadline=1))
        except mf.DeadlineExceeded as error:
            print(error.code.name, "after", round(clock.now - began), "s")
        try:
            shelf.copies("Ulysses")
        except NoSuchBook as error:
            print("no such book:", error.title)
    print("asked:", *(call.arguments["title"] for call in recorder.calls))
