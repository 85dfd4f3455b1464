"""The catalogue of lint, in the form of mfidl/diagnostics/codes.py: code, title, message, explanation.

Groups: L01 names, L02 comments, L03 imports and what is not used, L04 enums, L05 services and methods, L06
types and layouts, L09 lint itself. An explanation says why, and shows the schema before and after.
"""

from mfidl.diagnostics import Code

_ROWS = (
    # Names
    ("L0101", "type not in CamelCase", "{kind} `{name}` is not in CamelCase", "Types, services and topics are called alike in every schema, so that names of generated code look at home in both languages.\n\n  struct search_hit { ... }    ->    struct SearchHit { ... }"),
    ("L0102", "name not in snake_case", "{kind} `{name}` is not in snake_case", "Fields, alternatives, members, methods, parameters, results and agents are lower case, with `_` between words.\n\n  docId: u32;    ->    doc_id: u32;"),
    ("L0103", "constant not in UPPER_CASE", "constant `{name}` is not in UPPER_CASE", "A constant is distinguished from a field at first sight.\n\n  const maxHits: u32 = 10;    ->    const MAX_HITS: u32 = 10;"),
    ("L0104", "module not in lower case", "`{name}` in the name of a module is not in lower case", "Parts of module names become folders, packages and namespaces.\n\n  module Sf1.Search;    ->    module sf1.search;"),
    ("L0105", "like a built-in word", "{kind} `{name}` is easily taken for the built-in `{word}`", "Nothing is reserved, but a reader stumbles.\n\n  struct String { ... }    ->    struct Text { ... }"),
    ("L0106", "member repeats the enum", "member `{name}` repeats the name of its {kind}", "Members are always written behind their enum, in schemas and in generated code.\n\n  enum Rank: u8 { rank_bm25 = 0 }    ->    enum Rank: u8 { bm25 = 0 }"),
    ("L0107", "file not named like its module", "module `{name}` is in `{file}`", "A file is imported by its path and then used by the last part of the module's name: both should be one word.\n\n  import \"sf1/search.mfidl\";    // module sf1.search: search.Hit"),
    ("L0108", "generated class gives way", "{kind} `{name}` has the class `{class_}` in {language}: its name is taken", "Names that the compiler adds give way to those of the schema, and to earlier ones of their own. The code compiles, but the class has another name than a reader expects.\n\n  struct QuotesSubscriber { ... }    ->    struct QuoteReader { ... }\n  topic Quotes : Quote;                    topic Quotes : Quote;"),
    # Comments
    ("L0201", "service without documentation", "service `{name}` has no doc comment", "Off unless asked for. Doc comments reach the generated code and the pages of `mfidlc doc`.\n\n  /// Finds documents.\n  service Index { ... }"),
    ("L0202", "method without documentation", "method `{name}` has no doc comment", "Off unless asked for. Doc comments reach the generated code and the pages of `mfidlc doc`.\n\n  /// Documents that hold all terms, best first.\n  query(terms: list<string>) -> list<Hit>;"),
    ("L0203", "type without documentation", "{kind} `{name}` has no doc comment", "Off unless asked for. Doc comments reach the generated code and the pages of `mfidlc doc`."),
    ("L0204", "doc comment lost", "this doc comment documents nothing", "A doc comment belongs to the declaration, field, member, method or parameter that begins behind it. In other places it is dropped.\n\n  @oneway              ->    /// Marks it.\n  /// Marks it.              @oneway\n  touch(doc: u32);           touch(doc: u32);"),
    ("L0205", "doc comment behind code", "this doc comment documents what follows, not what precedes it", "`///` belongs to what begins behind it, on the next line or later.\n\n  doc: u32;  /// the document    ->    /// the document\n  tf: u32;                             doc: u32;"),
    ("L0206", "TODO in a doc comment", "`{word}` in a doc comment reaches the users of the generated code", "Notes to yourself go into an ordinary comment.\n\n  /// TODO: rename    ->    // TODO: rename"),
    ("L0207", "doc comment twice", "`{name}` has the same doc comment as `{other}`", "Most often a copy that was not adapted."),
    # Imports, and what is not used
    ("L0301", "unused import", "nothing of `{name}` is used here", "Each import is read, and a change of it rebuilds every file that imports it."),
    ("L0302", "error never thrown", "no method throws `{name}`", "Reported in modules that have services. An error is no type: nothing but `throws` can use it."),
    ("L0303", "agent never used", "nothing is offered per `{name}`", "Reported in modules that have services or topics, if they do not use their agent."),
    ("L0304", "deprecated name used", "{kind} `{name}` is deprecated{why}", "What is declared deprecated will be removed. Within what is deprecated itself, nothing is reported."),
    # Enums
    ("L0401", "enum without a zero", "enum `{name}` has no member with the number 0", "Memory that was never written, and padding that a field grows into, read as 0. Without such a member they are no value of the enum.\n\n  enum Rank: u8 { bm25 = 1 }    ->    enum Rank: u8 { unknown = 0, bm25 = 1 }"),
    ("L0402", "closed enum", "a member added to `{name}` later is a decode error for programs without it", "Off unless asked for. The numbers of an open enum survive a round trip.\n\n  enum Lang: u16 { ... }    ->    open enum Lang: u16 { ... }"),
    # Services and methods
    ("L0501", "getter not idempotent", "`{name}` reads like a question, but is not @idempotent", "An idempotent call may be retried when a connection breaks. Say @idempotent, or choose a verb that says what changes.\n\n  get_hit(doc: u32) -> Hit;    ->    @idempotent get_hit(doc: u32) -> Hit;"),
    ("L0502", "method without a deadline", "`{name}` has no @deadline", "Off unless asked for. A call without one waits 30 s when its caller says nothing.\n\n  @deadline(200ms) query(...) -> ...;"),
    ("L0503", "bool parameters in a row", "`{first}` and `{second}` are two bool parameters in a row", "In a call, the reader cannot see which is which. Use flags, or an enum.\n\n  open(read: bool, write: bool);    ->    flags Mode: u8 { read, write }  open(mode: Mode);"),
    ("L0504", "list where every method has a batch", "`{name}` is `{single}` for a list: every method has a batch form already", "Generated clients send many calls of one method in one message, with an outcome for each. A second method for lists gives that up. Messages of a batch run at the same time; write @ordered where the calls are a sequence, as writes are.\n\n  add(doc: Doc);  add_all(docs: list<Doc>);    ->    @batch(max = 512) @ordered add(doc: Doc);"),
    ("L0505", "agent as a parameter", "parameter `{name}` repeats the agent that the call is for", "A call of a service `per` agent goes to one agent already; a parameter of its name can only contradict it."),
    ("L0506", "unbounded parameter", "parameter `{name}` may be of any size", "Off unless asked for. @length bounds what a servant has to hold, and is checked before it runs.\n\n  query(terms: list<string>)    ->    query(terms: list<string> @length(..32))"),
    ("L0507", "many parameters", "`{name}` has {count} parameters", "Off unless asked for. From 8 on, a struct reads better at the place of the call."),
    # Types and layouts
    ("L0601", "order of fields wastes padding", "{size} bytes, of which {padding} are padding; in another order it has {best}", "Fields lie in the order they are written, each at a multiple of its alignment. `mfidlc explain` draws the layout.\n\n  struct A { a: u8; b: u64; c: u8; }    ->    struct A { b: u64; a: u8; c: u8; }    24 bytes to 16"),
    ("L0602", "list of bool", "each element of `list<bool>` takes a byte", "Flags hold named bits, bytes hold many.\n\n  seen: list<bool>;    ->    seen: bytes;"),
    ("L0603", "list of u8", "`list<u8>` is `bytes`", "Both languages have a type for bytes that is faster to fill and to read.\n\n  body: list<u8>;    ->    body: bytes;"),
    ("L0604", "unit in a name", "`{name}` holds a time in a number", "A `duration` or `timestamp` has its unit in its type, and literals for it.\n\n  timeout_ms: u32 = 200;    ->    timeout: duration = 200ms;"),
    ("L0605", "optional container", "`{name}` may be absent and may be empty", "Off unless asked for. Two ways to say nothing are one too many, unless they differ in meaning."),
    ("L0606", "gap in the numbers", "number {number} of `{name}` is neither used nor reserved", "If a field of that number was removed, stored bytes may still hold it: reserve it, so that no new field takes it.\n\n  reserved 5;"),
    ("L0607", "tier not pinned", "struct `{name}` is memcpy as it happens", "Off unless asked for. A field of variable size would change the tier of this struct and of all that hold it. @tier(memcpy) makes that an error."),
    ("L0608", "defaults count like numbers", "the defaults of `{name}` are 1 to {last}, like the numbers of its fields", "In protobuf `= 1` numbers a field. Here it is a default, and a number comes before the name.\n\n  id: u64 = 1;    ->    1: id: u64;\n  count: u32 = 2;    ->    2: count: u32;"),
    # Lint itself
    ("L0901", "unknown code", "there is no rule `{code}`", "`// lint: allow(L0503)` names rules by their codes; mfidlc lint --list names them."),
    ("L0902", "nothing to allow", "`{code}` has nothing to report here", "The comment was for something that is gone. It holds for its own line, or, alone on a line, for what begins on the next."),
)  # fmt: skip

CATALOGUE: dict[str, Code] = {row[0]: Code(*row) for row in _ROWS}

# What some teams want, and most do not.
OFF = frozenset(("L0201", "L0202", "L0203", "L0402", "L0502", "L0506", "L0507", "L0605", "L0607"))
