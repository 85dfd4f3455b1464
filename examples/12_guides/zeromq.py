import mf
from guide import Loan, LoansPublisher, LoansSubscriber, ShelfClient
from library import Shelf

with mf.Topics() as topics:
    server = mf.Server("tcp://127.0.0.1:0")  # bind
    server.offer(Shelf(), agent="north")  # REP
    server.offer(topics)  # PUB
    server.start()
    with mf.Client(str(server.address)) as client:  # connect
        loans = LoansSubscriber(client, "north")  # SUB, with the prefix "north"
        publisher = LoansPublisher(topics)
        # No message is lost to a subscriber that joins slowly.
        publisher.await_subscribers(1, 10)
        left = ShelfClient(client).at("north").lend("Emma")  # REQ
        publisher.at("north").publish(Loan("Emma", left))
        message = loans.next()
        print(message.agent, message.value.title, message.value.left)
        loans.close()
    server.stop()
