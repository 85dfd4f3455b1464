// MF/IDL for tree-sitter: the rules of grammar/MfidlParser.g4 under the same names. No word is reserved, so each
// keyword may be a name, too; what follows it decides, as in the compiler.
const KEYWORDS = [
  'agent', 'annotation', 'as', 'const', 'enum', 'error', 'extends', 'flags', 'import', 'module', 'open', 'per',
  'reserved', 'service', 'struct', 'throws', 'topic', 'type', 'union',
];

const listOf = (rule) => optional(seq(rule, repeat(seq(',', optional(rule)))));

module.exports = grammar({
  name: 'mfidl',
  word: ($) => $.identifier,
  extras: ($) => [/[\s\uFEFF]/, $.doc_comment, $.comment],

  rules: {
    source_file: ($) => repeat(choice($.declaration, ';')),

    declaration: ($) =>
      seq(
        repeat($.annotation),
        choice(
          $.module_declaration, $.import_declaration, $.const_declaration, $.alias_declaration,
          $.agent_declaration, $.enum_declaration, $.struct_declaration, $.service_declaration,
          $.topic_declaration,
        ),
      ),

    module_declaration: ($) => seq('module', field('name', $.path), ';'),
    import_declaration: ($) => seq('import', field('target', $.string), optional(seq('as', field('alias', $._name))), ';'),
    const_declaration: ($) =>
      seq('const', field('name', $._name), ':', field('type', $.type), repeat($.annotation), '=', field('value', $._value), ';'),
    alias_declaration: ($) => seq('type', field('name', $._name), '=', field('type', $.type), repeat($.annotation), ';'),
    agent_declaration: ($) => seq('agent', field('name', $._name), ':', field('type', $.type), ';'),
    enum_declaration: ($) =>
      seq(
        choice(seq(optional('open'), 'enum'), 'flags'),
        field('name', $._name), optional(seq(':', field('base', $.type))), field('body', $.enum_body),
      ),
    struct_declaration: ($) =>
      seq(choice('struct', 'error', 'union', 'annotation'), field('name', $._name), choice(field('body', $.struct_body), ';')),
    service_declaration: ($) =>
      seq(
        'service', field('name', $._name),
        optional(seq('extends', field('base', $.path))), optional(seq('per', field('agent', $.path))),
        field('body', $.service_body),
      ),
    topic_declaration: ($) =>
      seq(
        'topic', field('name', $._name), optional(seq('per', field('agent', $.path))),
        ':', field('type', $.type), repeat($.annotation), ';',
      ),

    enum_body: ($) => seq('{', listOf($.enum_member), '}'),
    enum_member: ($) =>
      seq(repeat($.annotation), field('name', $._name), optional(seq('=', field('number', $._value))), repeat($.annotation)),

    struct_body: ($) => seq('{', repeat(choice($.inner_declaration, seq($.field, ';'), $.reserved, ';')), '}'),
    inner_declaration: ($) =>
      seq(
        repeat($.annotation),
        choice(
          seq(choice('struct', 'error', 'union'), field('name', $._name), field('body', $.struct_body)),
          $.enum_declaration,
          $.alias_declaration,
        ),
      ),
    field: ($) =>
      seq(
        repeat($.annotation), optional(seq(field('number', $.integer), ':')), field('name', $._name), ':',
        field('type', $.type), repeat($.annotation),
        optional(seq('=', field('default', $._value), repeat($.annotation))),
      ),
    reserved: ($) =>
      seq(repeat($.annotation), 'reserved', $._reserved_item, repeat(seq(',', $._reserved_item)), ';'),
    _reserved_item: ($) => choice($.string, seq($.integer, optional(seq('..', $.integer)))),

    service_body: ($) => seq('{', repeat(choice($.inner_declaration, $.method, ';')), '}'),
    method: ($) =>
      seq(
        repeat($.annotation), field('name', $._name), field('parameters', $.field_list),
        optional(seq('->', choice(field('results', $.field_list), seq(field('result', $.type), repeat($.annotation))))),
        optional(seq('throws', field('error', $.path), repeat(seq(',', field('error', $.path))))), ';',
      ),
    field_list: ($) => seq('(', listOf($.field), ')'),

    type: ($) =>
      seq(field('name', $.path), optional(seq('<', $._type_argument, repeat(seq(',', $._type_argument)), '>')), repeat('?')),
    _type_argument: ($) => choice(seq($.type, repeat($.annotation)), $.integer),

    annotation: ($) => prec.right(seq('@', field('name', $.path), optional($.arguments))),
    arguments: ($) => seq('(', listOf($.argument), ')'),
    argument: ($) =>
      choice(seq($._value, optional(choice(seq('=', $._value), seq('..', optional($._value))))), seq('..', $._value)),

    _value: ($) =>
      choice(
        seq(optional('-'), choice($._number, $.path)),
        $.string,
        $.list,
        $.braces,
      ),
    list: ($) => seq('[', listOf($._value), ']'),
    braces: ($) => seq('{', listOf($.entry), '}'),
    entry: ($) => seq(field('key', $._value), ':', field('value', $._value)),

    path: ($) => seq($._name, repeat(seq('.', $._name))),
    _name: ($) => choice($.identifier, ...KEYWORDS.map((word) => alias(word, $.identifier))),

    identifier: () => /[A-Za-z_][A-Za-z_0-9]*/,
    _number: ($) => choice($.integer, $.float, $.duration),
    integer: () => token(choice(/0[xX][0-9a-fA-F][0-9a-fA-F_]*/, /[0-9][0-9_]*/)),
    float: () => token(choice(/[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9]+)?/, /[0-9][0-9_]*[eE][+-]?[0-9]+/)),
    duration: () => /[0-9][0-9_]*(ns|us|ms|s|min|h|d)/,
    string: () => /"([^"\\\r\n]|\\[^\r\n])*"/,
    doc_comment: () => token(prec(2, /\/\/\/([^/\r\n][^\r\n]*)?/)),
    comment: () => token(prec(1, choice(/\/\/[^\r\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//))),
  },
});
