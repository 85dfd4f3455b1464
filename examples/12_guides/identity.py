import sys
from pathlib import Path

import mf
from guide import ShelfClient
from library import Shelf

made = Path(sys.argv[1])  # the folder with the certificates and the access file
ca = str(made / "ca.pem")
shown = mf.Tls(ca=ca, certificate=str(made / "server.pem"), key=str(made / "server.key"))
options = mf.ServerOptions(tls=shown, access=str(made / "access.conf"))
server = mf.Server("tls://127.0.0.1:0", options=options)
server.offer(Shelf(), agent="north")
server.start()

reader = mf.Tls(ca=ca, certificate=str(made / "reader.pem"), key=str(made / "reader.key"))
with mf.Client(str(server.address), mf.ClientOptions(tls=reader)) as client:
    shelf = ShelfClient(client).at("north")
    print("copies:", shelf.copies("Emma"))
    try:
        shelf.lend("Emma")
    except mf.PermissionDenied as error:
        print("lend:", error.code.name)

with mf.Client(str(server.address), mf.ClientOptions(tls=mf.Tls(ca=ca))) as client:
    try:
        ShelfClient(client).at("north").copies("Emma")
    except mf.Error as error:
        print("without a certificate:", error.code.name)

server.stop()
