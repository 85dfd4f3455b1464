import sys

import mf
from loans import LoansClient

# A client of the newer schema, at a server that still has the older one.
with mf.Client(sys.argv[1]) as client:
    loans = LoansClient(client)
    book = loans.find("Emma")
    print(f"{book.title}: {book.copies} copies, shelf {book.shelf}")
    try:
        loans.titles()
    except mf.Error as error:
        print("titles:", error.code.name)
