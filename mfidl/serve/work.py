"""The process that answers: reads a question as one line of JSON, writes its answer as another.

    python -P -m mfidl.serve.work DESCRIPTOR

The server starts it with one end of a pair of sockets, and ends it when an answer takes too long.
"""

import gc
import json
import os
import socket
import sys
from typing import Any

from mfidl.serve.answers import answer
from mfidl.serve.confined import confine

# All that the page can show, so that the parts of the compiler that are loaded when needed are loaded now.
_FIRST = """module first;
enum A: u8 { one = 1 }
struct B { a: A; b: u32; }
struct C { b: list<B>; c: string? @length(1..9); }
union D { 1: a: A; 2: c: C; }
service E { f(a: A) -> D; }
topic G: C;
"""


def main(descriptor: int) -> None:
    with socket.socket(fileno=descriptor) as pipe, pipe.makefile("rwb") as lines:
        answer({"ask": "schema", "schema": _FIRST, "older": _FIRST})
        answer({"ask": "value", "schema": _FIRST, "type": "C"})
        gc.freeze()
        os.chdir("/")
        confine()
        lines.write(b"{}\n")  # it is ready
        lines.flush()
        for line in lines:
            lines.write(json.dumps(_answered(json.loads(line))).encode() + b"\n")
            lines.flush()


def _answered(question: dict[str, Any]) -> dict[str, Any]:
    """A mistake of the compiler becomes an answer, so that the page can show it."""
    try:
        return answer(question)
    except MemoryError:
        return {"failure": "this needs more memory than the playground gives it"}
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return {"failure": f"internal error: {text}. Please report it with the schema."}


if __name__ == "__main__":
    main(int(sys.argv[1]))
