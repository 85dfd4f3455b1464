"""Servers of a service `late.Late`, whose schema a test gives."""

import sys
from pathlib import Path

from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import late, mf
class Late(late.LateServant):
{methods}
server = mf.Server("tcp://127.0.0.1:0", sys.argv[2])
server.offer(Late())
with server:
    print(server.address, flush=True)
    sys.stdin.read()
"""


def serve_methods(peers: Peers, folder: Path, schema: str, methods: str, controller: Server) -> Server:
    """`folder` is made for its stubs. `methods`: those of its class, indented."""
    folder.mkdir()
    (folder / "late.mfidl").write_text(schema)
    outcome = compile_files([str(folder / "late.mfidl")], [], Targets(python=str(folder)))
    assert outcome.exit == Exit.OK, outcome.diagnostics
    program = folder.with_suffix(".py")
    program.write_text(_PROGRAM.format(methods=methods))
    return peers.run([sys.executable, str(program), str(folder), controller.address])


def serve(peers: Peers, folder: Path, schema: str, method: str, result: str, controller: Server) -> Server:
    """With one method, whose result is an expression of `given`, its arguments."""
    methods = f"    def {method}(self, *given):\n        return {result}\n"
    return serve_methods(peers, folder, schema, methods, controller)
