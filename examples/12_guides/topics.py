import mf
from guide import Loan, LoansPublisher, LoansSubscriber

with mf.Topics() as topics:
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(topics)
    server.start()
    publisher = LoansPublisher(topics)
    with mf.Client(str(server.address)) as client:
        loans = LoansSubscriber(client, "*")  # of all shelves
        publisher.await_subscribers(1, 10)
        for left in (2, 1, 0):
            publisher.at("north").publish(Loan("Emma", left))
        publisher.at("south").publish(Loan("Persuasion", 0))
        for _ in range(4):
            message = loans.next(10)
            print(message.agent, message.value.title, message.value.left, "number", message.sequence)
        loans.close()
    server.stop()
