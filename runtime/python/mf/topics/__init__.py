"""R6. Topics: publishers, subscribers, and the queues between them, within a process and between several.

    topics = mf.Topics()                                       # the hub of a process
    AdditionsPublisher(topics).at("books").publish(addition)
    server.offer(topics)                                       # for subscribers elsewhere
    for message in AdditionsSubscriber(client, "eu.*"): ...    # or of `topics`, where nothing is serialized

info, options, pattern, item, message, queue, outlet, channel, hub, publisher, inbox, subscriber import
nothing of clients and servers; remote (subscriptions at publishers elsewhere) and served (those of
subscribers elsewhere) do, and are imported when they are needed.
"""
