; Names by what they are; words, numbers, texts and comments.
(comment) @comment
(doc_comment) @comment.documentation
(string) @string
(integer) @number
(duration) @number
(float) @number.float

[
  "agent" "annotation" "as" "const" "enum" "error" "extends" "flags" "import" "module" "open" "per" "reserved"
  "service" "struct" "throws" "topic" "type" "union"
] @keyword

(annotation "@" @attribute name: (path) @attribute)
(module_declaration name: (path) @module)
(import_declaration alias: (identifier) @module)
(const_declaration name: (identifier) @constant)
(agent_declaration name: (identifier) @variable)
(alias_declaration name: (identifier) @type.definition)
(enum_declaration name: (identifier) @type)
(struct_declaration name: (identifier) @type)
(inner_declaration name: (identifier) @type)
(service_declaration name: (identifier) @type)
(topic_declaration name: (identifier) @type)
(enum_member name: (identifier) @constant)
(method name: (identifier) @function.method)
(field name: (identifier) @property)
(type name: (path) @type)
((type name: (path) @type.builtin)
  (#any-of? @type.builtin
    "bool" "i8" "i16" "i32" "i64" "u8" "u16" "u32" "u64" "f32" "f64" "string" "bytes" "timestamp" "duration" "uuid"
    "list" "array" "set" "map" "ref" "stream"))

["->" ".." "=" "?" "-"] @operator
["{" "}" "(" ")" "[" "]" "<" ">"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
