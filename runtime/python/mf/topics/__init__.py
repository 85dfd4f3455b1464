"""R6. Topics: publishers, subscribers, and the queues between them, within a process and between several.

    topics = mf.Topics()                                       # the hub of a process
    AdditionsPublisher(topics).at("books").publish(addition)
    server.offer(topics)                                       # for subscribers in other processes
    for message in AdditionsSubscriber(client, "eu.*"): ...    # or of `topics`, where nothing is serialized

Only two modules import from clients and servers, and they are imported on demand: remote (subscriptions to
publishers in other processes) and served (subscriptions from other processes).
"""
