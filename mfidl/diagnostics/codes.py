"""F1. The catalogue: every code, its title, message and explanation, in one table.

Groups: E00 files, E01 syntax, E02 modules and imports, E03 names, E04 types, E05 values, E06 annotations and
methods, E07 tiers, E08 not supported yet, E09 generators of others and
templates. A message is completed by `Diagnostics.error`; the explanation is
for `help` pages.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    code: str
    title: str
    message: str
    explanation: str


_ROWS = (
    # Files
    ("E0001", "file cannot be read", "cannot read `{path}`: {reason}", "The file named on the command line is missing or cannot be opened."),
    ("E0002", "file is not UTF-8", "`{path}` is not UTF-8: byte {byte} is 0x{value:02x}", "Schemas are UTF-8 text. Convert the file, for instance with iconv."),
    ("E0003", "file is too large", "`{path}` has {size} bytes; a schema may have at most {limit}", "A schema this large is most often data given by mistake. Split it into modules."),
    ("E0004", "output cannot be written", "cannot write `{path}`: {reason}", "Nothing of this run was written. Check the folder and its permissions."),
    ("E0005", "output written twice", "`{path}` would be written for both `{first}` and `{second}`", "Two modules map to the same generated file. Rename one of them."),
    ("E0006", "file is not text", "`{path}` is not text: byte {byte} is zero", "Schemas are UTF-8 text. This is a program, an archive, or text in UTF-16."),
    ("E0007", "more errors", "{count} more errors in this file are not shown", "A file shows at most 100 errors. Mend some of those before this one; what is left will then be shown."),
    ("W0007", "more warnings", "{count} more warnings in this file are not shown", "A file shows at most 100 warnings."),
    # Syntax
    ("E0101", "unexpected text", "expected {expected}, found {found}", "The text does not follow the grammar here. The parser goes on behind the next `;` or `}`."),
    ("E0102", "missing `;`", "missing `;`", "Fields, methods and declarations without a body end with `;`."),
    ("E0103", "missing closing bracket", "missing `{bracket}`", "A bracket was opened and not closed."),
    ("E0104", "stray character", "stray character {character}", "This character has no meaning in the language outside of strings and comments."),
    ("E0105", "string without end", "this string has no closing quote on its line", 'Strings end on the line they begin on. Write \\n for a line break.'),
    ("E0106", "malformed number", "`{text}` is not a number", "Numbers are 10, 1_000, 0xff, 1.5, 1.5e3; durations one whole number and one unit: 200ms."),
    ("E0107", "unknown escape", "unknown escape `{escape}` in a string", 'The escapes are \\n \\r \\t \\0 \\\\ \\" \\xNN and \\u{N..N}.'),
    ("E0108", "nested too deeply", "nested more than {limit} levels deep", "Types and values may be nested up to 64 levels. Name the inner ones."),
    ("E0109", "comment without end", "this comment has no closing `*/`", "Block comments do not nest and end with */."),
    ("E0110", "unknown declaration", "`{word}` does not begin a declaration", "A declaration begins with module, import, const, type, agent, enum, flags, struct, union, error, service or topic."),
    ("E0111", "missing `,`", "missing `,`", "Parameters, results, enum members, arguments and elements are separated by `,`."),
    ("E0112", "unmatched `}`", "this `}}` closes nothing", "There are more closing than opening braces."),
    ("E0113", "nested declaration", "`{word}` cannot be declared inside of another declaration", "Declarations do not nest. Put it beside the other one."),
    ("E0114", "wrong quotes", "strings stand in straight double quotes", 'Write "text": single, typographic and back quotes have no meaning outside of strings.'),
    # Modules
    ("E0201", "no module", "this file does not say which module it is", "The first declaration of a file is `module name;`."),
    ("E0202", "module declared late or twice", "{problem}", "A file is one module; `module name;` stands once, before everything else."),
    ("E0203", "import not found", "cannot find `{path}` to import", "Imports are searched in the folder of the importing file and in each --import-path."),
    ("E0204", "import cycle", "this import closes a cycle: {cycle}", "Modules import each other in one direction only. Move what both need into a third."),
    ("E0205", "module in two files", "module `{name}` is already another file", "Each module is one file. Rename one of them, or drop the second file."),
    ("E0206", "import clash", "{problem}", "Every imported module needs its own word in a file: `import \"...\" as word;`."),
    ("E0207", "import path", "an import path is relative, with forward slashes and without `..`", "So that a schema means the same from every folder, imports go down from an import path."),
    # Names
    ("E0301", "unknown type", "unknown type `{name}`", "No declaration of this name can be seen from here."),
    ("E0302", "not a type", "`{name}` is {kind}, not a type", "Only structs, unions, enums, flags and aliases are types."),
    ("E0303", "declared twice", "`{name}` is declared twice", "All declarations of a module share one set of names."),
    ("E0304", "member declared twice", "{kind} `{name}` is declared twice", "Members of one declaration have different names."),
    ("E0305", "built-in name", "`{name}` is the name of a built-in type", "Fields and methods may be called like a built-in type, declarations may not."),
    ("E0306", "unknown module", "no module is imported as `{name}`", "A name with a dot begins with the local name, or the full name, of an imported module."),
    ("E0307", "not imported", "`{name}` is declared in module `{module}`, which this file does not import", "Imports are not transitive: each file imports what it uses."),
    ("E0308", "unknown constant", "unknown constant `{name}`", "No constant of this name can be seen from here."),
    ("E0309", "not a constant", "`{name}` is {kind}, not a constant", "Values are literals, constants, and members of enums."),
    ("E0310", "not an error", "`{name}` is {kind}; a method throws only what is declared with `error`", "Declare it as `error Name { ... }`."),
    ("E0311", "error used as a type", "error `{name}` cannot be used as a type", "An error is the outcome of a method: name it after `throws`. Share fields through a struct."),
    ("E0312", "thrown twice", "`{name}` is thrown twice by this method", "List each error once."),
    ("E0313", "unknown agent", "unknown agent `{name}`", "`per` names an agent: agent name: string;"),
    ("E0314", "not an agent", "`{name}` is {kind}, not an agent", "`per` names an agent: agent name: string;"),
    ("E0315", "unknown error", "unknown error `{name}`", "`throws` names errors: error Name { ... }"),
    ("E0316", "unknown enum or module", "no enum or module `{name}`", "A member is written Enum.member, a constant of another module module.NAME."),
    # Types
    ("E0401", "wrong number of type arguments", "`{name}` takes {expected}, not {found}", "list<T>, set<T>, map<K, V>, array<T, N>."),
    ("E0402", "type without arguments", "`{name}` takes no type arguments", "Only list, set, map and array take arguments."),
    ("E0403", "optional of optional", "this type is already optional", "There is no T??: absent is one state."),
    ("E0404", "not a key", "{type} cannot be {role}", "Keys of maps and sets are bool, integers, enums, string, bytes or uuid."),
    ("E0405", "array length", "the length of an array is a whole number from 1 to {limit}", "array<T, N> has exactly N elements."),
    ("E0406", "type contains itself", "`{name}` contains itself: {path}", "A value of this type would have no end. Recursion goes through list, map or `?`."),
    ("E0407", "alias of itself", "alias `{name}` stands for itself", "Follow the aliases: they must end at a type."),
    ("E0408", "enum width", "the width of an enum is an integer type, not {type}", "enum Name: u8 { ... }; u8 to u64 and i8 to i64."),
    ("E0409", "enum member without number", "member `{name}` has no number", "Numbers are the identity of members, so they are written: they survive a reordering."),
    ("E0410", "enum number twice", "number {number} is already member `{other}`", "Each member has its own number."),
    ("E0411", "closed enum without members", "closed enum `{name}` has no members, so it has no value", "Add a member, or make it an `open enum`."),
    ("E0412", "agent type", "an agent is a string, integer, enum or uuid, not {type}", "Agents are compared and ordered, and travel in every look-up."),
    ("E0413", "type expected", "expected a type, found a number", "Only the second argument of array<T, N> is a number."),
    ("E0414", "width missing", "{kind} `{name}` does not say its width", "The width is part of the layout: enum Name: u8 { ... }, flags Name: u16 { ... }"),
    ("E0415", "too large", "`{name}` would have more than {limit} bytes", "A fixed-size type may have at most 16 MiB, the largest message. Use list<T>."),
    ("E0416", "struct without body", "{kind} `{name}` has no body", "Only a struct with the tier `custom` has none. Write an empty body as { }."),
    ("E0417", "flags width", "the width of flags is an unsigned integer type, not {type}", "flags Name: u16 { ... }; u8, u16, u32 or u64: a bit for each member."),
    ("E0418", "bit out of range", "flags of {type} have bits 0 to {last}, not {bit}", "The value of a member is the number of its bit, not a mask. Without one it is the next bit."),
    ("E0419", "bit twice", "bit {bit} is already member `{other}`", "Each member is a bit of its own. A combination of several is a constant: const BOTH: Name = [Name.a, Name.b];"),
    ("E0420", "union without alternatives", "union `{name}` has no alternatives, so it has no value", "Add an alternative: union Value { 1: number: f64; 2: text: string; }"),
    ("E0421", "optional alternative", "alternative `{name}` cannot be optional", "A union always holds one alternative. For none of them, make the place of the union optional: value: Value?"),
    ("E0422", "alternative with default", "alternative `{name}` has a default, which would never be used", "An alternative is there or another one is. A default belongs to the field that holds the union."),
    ("E0423", "number out of range", "a number of a field is from 1 to {limit}, not {number}", "Numbers have 29 bits, as in protobuf."),
    ("E0424", "number twice", "{kind} number {number} is already `{other}`", "The number is the identity of a field across versions: each has its own."),
    ("E0425", "number missing", "{kind} `{name}` has no number, and others have", "Either all have numbers or none has: 1: name: string;"),
    ("E0426", "archive without numbers", "`{name}` has the tier archive, so its fields need numbers", "Stored bytes outlive the schema, so fields are known by numbers that never change: 1: name: string;"),
    ("E0427", "reserved number", "{kind} number {number} is reserved", "The number belonged to something that is gone, and old bytes may still hold it. Take another."),
    ("E0428", "reserved name", "{kind} name `{name}` is reserved", "The name belonged to something that is gone. Take another, or drop it from `reserved` if it is the same thing come back."),
    ("E0429", "annotated `reserved`", "`@{name}` does not belong to `reserved`", "There is nothing that could be annotated."),
    ("E0430", "not a name", '"{name}" is not a name', "A name is a letter or _, then letters, digits and _."),
    ("E0431", "reserved twice", "{what} is reserved twice", "Once is enough."),
    ("E0432", "ref outside of an archive", "only a type of the tier archive can hold a `ref`, and {what} is not one", "The identity of shared objects is kept by the archive's table of objects: @tier(archive), and numbers on the fields."),
    ("E0433", "number of protobuf's own", "numbers 19000 to 19999 are protobuf's own, {number} among them", "An archive is valid protobuf, which keeps these numbers for itself."),
    ("E0434", "ref to something else", "`ref` refers to a struct or union of the tier archive, not {what}", "A shared object is an entry of the archive's table of objects."),
    # Values
    ("E0501", "wrong kind of value", "expected {expected}, found {found}", "The value does not fit the type that it stands for."),
    ("E0502", "out of range", "{value} does not fit into {type}", "The value lies outside of the range of the type."),
    ("E0503", "unknown member", "{kind} `{enum}` has no member `{name}`", "Members are written Enum.member."),
    ("E0504", "unknown field in a value", "{kind} `{struct}` has no {member} `{name}`", "A struct value names fields of the struct: { x: 1, y: 2 }."),
    ("E0505", "field missing in a value", "the value for `{struct}` lacks field `{name}`", "Fields without default that are not optional must be given."),
    ("E0506", "twice in a value", "{what} stands here twice", "Elements of sets, keys of maps and fields of structs are given once."),
    ("E0507", "constant of itself", "constant `{name}` needs its own value", "Follow the constants: they must end at a literal."),
    ("E0508", "number of elements", "the array has {expected} elements, not {found}", "array<T, N> has exactly N elements."),
    ("E0509", "default breaks a constraint", "the default {value} breaks {constraint}", "A default must be a legal value of its field."),
    ("E0510", "text is not UTF-8", "a string must be UTF-8; \\x escapes above 7f are for bytes", "Write the character itself or \\u{N}."),
    ("E0511", "value of a custom struct", "there is no literal for `{name}`: only its own codec knows what it holds", "A struct of the tier custom has no fields that could be written down."),
    ("E0512", "value of a union", "a value of union `{name}` is one alternative, not {found}", "{ number: 1.5 }: the name of the alternative and its value."),
    ("E0513", "value of a ref", "there is no literal for a `ref`", "A ref points to an object of its graph, which exists only at run time."),
    # Annotations and methods
    ("E0601", "unknown annotation", "unknown annotation `@{name}`", "Annotations are checked, so that a slip of the pen does not go unseen."),
    ("E0602", "annotation out of place", "`@{name}` does not belong to {place}; it goes with {allowed}", "Each annotation has its places."),
    ("E0603", "annotation given twice", "`@{name}` is given twice", "An annotation stands once at one place."),
    ("E0604", "annotation arguments", "`@{name}` is written {usage}", "The arguments of the annotation are not as it needs them."),
    ("E0605", "constraint does not fit", "`@{name}` needs {needs}, not {type}", "@range: numbers, timestamps and durations. @length: string, bytes, list, set, map. @finite: f32, f64. @pattern: string."),
    ("E0606", "empty range", "no value lies in {range}", "The lower bound is above the upper one."),
    ("E0607", "pattern", "this pattern is not a regular expression of the RE2 subset: {reason}", "No back references, no look-around, no possessive or atomic groups."),
    ("E0608", "deadline", "a deadline is more than zero", "@deadline(200ms). Without one, a call has 30 s."),
    ("E0609", "batch size", "a batch has 1 to {limit} items", "@batch(max = 512)."),
    ("E0610", "oneway with results", "a oneway method has no results", "Nobody waits for the reply of a oneway method, so it cannot carry a result."),
    ("E0611", "oneway with errors", "a oneway method throws nothing", "Nobody waits for the reply of a oneway method, so it cannot carry an error."),
    ("E0612", "empty results", "a method without results has no `->`", "name(...);  or  name(...) -> (a: T, b: U);"),
    ("E0613", "constraint through constants", "{what} must be a whole number", "Bounds of @length and sizes are whole numbers from 0."),
    ("E0614", "oneway with a deadline", "a oneway method has no `@{name}`", "No reply is awaited, so there is nothing to wait for, and nothing to bound."),
    ("E0615", "earlier name", '"{earlier}" cannot be an earlier name of `{name}`: {reason}', "By an earlier name old schemas still find the one member that has it now."),
    ("E0618", "name of foreign code", '"{text}" is not {expected}', "The header is included, and the names are used, as they stand here."),
    # Tiers
    ("E0701", "tier impossible", "`{name}` cannot be {tier}: {reason}", "memcpy needs a fixed size: bool, numbers, enums, flags, arrays and structs of such."),
    ("E0702", "unknown tier", "unknown tier `{name}`", "The tiers are memcpy, febird, archive and custom."),
    ("E0703", "codec without its tier", "`{name}` names a codec with @{annotation}, but has not the tier custom", '@tier(custom) @cpp.codec("geo/codec.hpp", "geo::Geo", "geo::Codec") struct Geo;'),
    ("E0704", "custom without codec", "`{name}` has the tier custom, and names no codec", "Name one for each language that it is used in."),
    ("E0705", "custom with fields", "`{name}` has the tier custom, so it has no body: its codec alone knows what it holds", '@tier(custom) @python.codec("geo.codec:Codec") struct Geo;'),
    ("E0706", "foreign C++ type", "`{name}` cannot stand for {type}: {reason}", "@cpp.type is for structs of the tier memcpy, whose layout can be compared with that of the C++ type."),
    # Later
    ("E0801", "not supported yet", "not supported by this version of mfidlc yet: {what}", "The language has it, this version of the compiler does not. It is refused, so that nothing is lost in silence."),
    ("W0801", "left out of the generated code", "{what} is left out of the generated code: {reason}", "The schema is right, and the rest of it is generated. The fingerprint of the service stays that of the whole schema."),
    ("W0802", "generated without its cache", "{what} is generated without its cache: cached calls are not generated yet", "Every call goes to a server."),
    # Generators of others, and templates
    ("E0901", "generator cannot be started", "cannot start generator `{name}` (`{path}`): {reason}", "A generator is a program mfidlc-gen-NAME that can be executed, or the one that `--plugin NAME=PATH` names."),
    ("E0902", "generator failed", "generator `{name}` {how}", "A generator ends with status 0, also when it reports mistakes: those belong into its answer. Nothing was written."),
    ("E0903", "answer of a generator", "the answer of generator `{name}` cannot be used: {reason}", "A generator writes one mfidl.plugin.Response to standard output, and nothing else: messages go to standard error."),
    ("E0904", "generator too slow", "generator `{name}` did not end within {seconds} s", "It was killed, and nothing was written. `--plugin-timeout SECONDS` gives it more time."),
    ("E0905", "answer too large", "generator `{name}` wrote more than {limit} MiB", "It was killed, and nothing was written. Generate fewer modules at a time."),
    ("E0906", "path of a generated file", "generator `{name}` answered with a path that {reason}: `{path}`", "A generator's files lie below the folder given for it: a relative path, forward slashes, no `.` and no `..`."),
    ("E0907", "file generated twice", "generator `{name}` answered with `{path}` twice", "Each file stands once in an answer."),
    ("E0908", "error of a generator", "{name}: {message}", "The generator refuses the schema. What it cannot do, its own documentation says."),
    ("W0908", "warning of a generator", "{name}: {message}", "The generator has something to say about the schema. Files were written."),
    ("E0909", "mistake in a template", "{message}", "Templates are Jinja2. What they may use: program, module and the filters that docs/plugins.md lists."),
    ("E0910", "folder without templates", "there are no templates (`*.j2`) below `{path}`", "`--template DIR` renders each file of DIR whose name ends with .j2, but those that begin with an underscore."),
)  # fmt: skip

CATALOGUE: dict[str, Code] = {row[0]: Code(*row) for row in _ROWS}
