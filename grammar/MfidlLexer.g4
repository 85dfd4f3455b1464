/*
 * The words of MF/IDL. Contract: this file is the definition; mfidl/syntax/tokens.py reads the same language with one
 * compiled regular expression (three times faster in Python), and a test holds the two together token by token.
 *
 * No word is reserved: the parser's rule `name` takes every keyword below. Types (`u32`, `list`), literals (`true`)
 * and annotation names are plain NAMEs; the compiler gives them their meaning, and its "did you mean".
 */
lexer grammar MfidlLexer;

channels { DOC }

// Words that begin a type within another declaration, where they do: mfidl/syntax/recovery.py gives them these types
// before the parser looks at them, since a field may have such a name, too.
tokens { INNER_STRUCT, INNER_ENUM, INNER_OPEN, INNER_TYPE }

// The words that begin or join declarations.
AGENT    : 'agent' ;
ANNOTATION : 'annotation' ;
AS       : 'as' ;
CONST    : 'const' ;
ENUM     : 'enum' ;
ERROR    : 'error' ;
EXTENDS  : 'extends' ;
FLAGS    : 'flags' ;
IMPORT   : 'import' ;
MODULE   : 'module' ;
OPEN     : 'open' ;
PER      : 'per' ;
SERVICE  : 'service' ;
STRUCT   : 'struct' ;
THROWS   : 'throws' ;
TOPIC    : 'topic' ;
TYPE     : 'type' ;
UNION    : 'union' ;

NAME : [A-Za-z_] [A-Za-z_0-9]* ;

// Hexadecimal before units: 0x1d is 29, not a day. A digit or letter glued to a number makes a BAD_NUMBER, which the
// compiler refuses in words.
HEX      : '0' [xX] [0-9a-fA-F] [0-9a-fA-F_]* ;
FLOAT    : DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT ;
DURATION : DIGITS ( 'ns' | 'us' | 'ms' | 's' | 'min' | 'h' | 'd' ) ;
INTEGER  : DIGITS ;
BAD_NUMBER : DIGITS ( '.' DIGITS )? ( [eE] [+-] [0-9]+ )? [A-Za-z_] [A-Za-z_0-9]* ;
fragment DIGITS   : [0-9] [0-9_]* ;
fragment EXPONENT : [eE] [+-]? [0-9]+ ;

// One line; escapes are \n \r \t \0 \\ \" \xNN and \u{N..N}.
STRING     : '"' ( ~["\\\r\n] | '\\' ~[\r\n] )* '"' ;
BAD_STRING : '"' ( ~["\\\r\n] | '\\' ~[\r\n] )* ;

ARROW     : '->' ;
DOTS      : '..' ;
AT        : '@' ;
ASSIGN    : '=' ;
CLOSE     : '}' ;
COLON     : ':' ;
COMMA     : ',' ;
DOT       : '.' ;
GREATER   : '>' ;
LBRACKET  : '[' ;
LESS      : '<' ;
LPAREN    : '(' ;
MINUS     : '-' ;
OPEN_BRACE: '{' ;
QUESTION  : '?' ;
RBRACKET  : ']' ;
RPAREN    : ')' ;
SEMICOLON : ';' ;

DOC_COMMENT   : '///' ~[/\r\n] ~[\r\n]* -> channel(DOC) ;
EMPTY_DOC     : '///' -> type(DOC_COMMENT), channel(DOC) ;
LINE_COMMENT  : '//' ~[\r\n]* -> channel(HIDDEN) ;
BLOCK_COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
OPEN_COMMENT  : '/*' ( ~'*' | '*'+ ~[*/] )* '*'* EOF ;  // longer than a closed one: it must not hold a `*/`
SPACE         : [ \t\r\n\f\uFEFF]+ -> channel(HIDDEN) ;
BAD           : . ;
