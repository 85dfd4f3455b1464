/*
 * Slice, the language of Ice, 3.7 and 3.8, with the older forms that files in use still have (local, implements,
 * nonmutating, operations of classes).
 *
 * Contract: every decision is LL(1), so the generated parser never predicts by simulation; everything that the builder
 * of the tree (mfidl/foreign/slice_syntax.py) needs has a label, so no parse tree is built. The lexer reads a whole file,
 * with the lines of the preprocessor; slice_preprocessor.py takes those out of its tokens, and what their conditions
 * exclude. Comments are on the hidden channel, where mfidl/foreign/comments.py finds them. The lexer refuses nothing:
 * the tokens of the last group are in no rule, so that the parser refuses them with their place, if the preprocessor
 * leaves them. The names of base types are NAMEs. What may be declared where (an operation in an interface, a field in
 * a struct) is left to the builder.
 */
grammar Slice;

file : items+=item* EOF ;

// The attributes before a definition are its own.
item : metadata=attribute | declaration=definition | SEMICOLON ;

definition : local=LOCAL? ( a=module | b=body | c=enum | d=container | e=constant ) ;

module : MODULE id=name opening=OPEN items+=item* CLOSE ;

body
  : kind=( STRUCT | CLASS | EXCEPTION | INTERFACE ) id=name ( LPAREN value RPAREN )?
    ( ( EXTENDS | IMPLEMENTS | COLON ) bases+=name ( COMMA bases+=name )*
      ( ( EXTENDS | IMPLEMENTS ) bases+=name ( COMMA bases+=name )* )?
    )?
    ( opening=OPEN members+=member* CLOSE )?
  ;

member
  : metadata+=attribute* idempotent=( IDEMPOTENT | NONMUTATING )? tag=optional? ( VOID | of=type ) id=name
    ( opening=LPAREN parameters+=parameter* closing=RPAREN ( THROWS errors+=name ( COMMA errors+=name )* )?
    | ( ASSIGN init=value )?
    ) SEMICOLON*
  ;

parameter : ( metadata+=attribute | out+=OUT )* tag=optional? of=type id=name COMMA? ;

optional : OPTIONAL ( LPAREN value? RPAREN )? ;

enum       : ENUM id=name opening=OPEN members+=enumerator* CLOSE ;
enumerator : metadata+=attribute* id=name ( ASSIGN number=value )? COMMA? ;

container
  : kind=SEQUENCE LESS attribute* types+=type GREATER id=name
  | kind=DICTIONARY LESS attribute* types+=type COMMA attribute* types+=type GREATER id=name
  ;

constant : CONST attribute* of=type id=name ASSIGN init=value ;

type  : id=NAME proxy=STAR? maybe=QUESTION? ;
value : number=( INTEGER | FLOAT ) | texts+=STRING+ | id=name ;

// `["deprecated:…"]`, and `[["…"]]` of a whole file.
attribute : LBRACKET ( texts+=STRING COMMA? )* RBRACKET | FILE_OPEN ( STRING COMMA? )* FILE_CLOSE ;

name
  : NAME | MODULE | STRUCT | CLASS | EXCEPTION | INTERFACE | ENUM | SEQUENCE | DICTIONARY | CONST | LOCAL | EXTENDS
  | IMPLEMENTS | THROWS | VOID | OUT | IDEMPOTENT | NONMUTATING | OPTIONAL
  ;

MODULE      : 'module' ;
STRUCT      : 'struct' ;
CLASS       : 'class' ;
EXCEPTION   : 'exception' ;
INTERFACE   : 'interface' ;
ENUM        : 'enum' ;
SEQUENCE    : 'sequence' ;
DICTIONARY  : 'dictionary' ;
CONST       : 'const' ;
LOCAL       : 'local' ;
EXTENDS     : 'extends' ;
IMPLEMENTS  : 'implements' ;
THROWS      : 'throws' ;
VOID        : 'void' ;
OUT         : 'out' ;
IDEMPOTENT  : 'idempotent' ;
NONMUTATING : 'nonmutating' ;
OPTIONAL    : 'optional' ;

// With the modules before a name. A backslash makes a name of a word of the language.
NAME    : ( '::'? '\\'? [A-Za-z_] [A-Za-z_0-9]* )+ ;
FLOAT
  : [+-]? ( [0-9]+ '.' [0-9]* | '.' [0-9]+ ) ( [eE] [+-]? [0-9]+ )? [fF]?
  | [+-]? [0-9]+ ( [eE] [+-]? [0-9]+ [fF]? | [fF] )
  ;
INTEGER : [+-]? ( '0' [xX] [0-9a-fA-F]+ | [0-9]+ ) ;
STRING  : '"' ( ~["\\\n] | '\\' ~[\n] | SPLICE )* '"' ;

FILE_OPEN  : '[[' ;
FILE_CLOSE : ']]' ;
OPEN       : '{' ;
CLOSE      : '}' ;
LPAREN     : '(' ;
RPAREN     : ')' ;
LESS       : '<' ;
GREATER    : '>' ;
LBRACKET   : '[' ;
RBRACKET   : ']' ;
COLON      : ':' ;
SEMICOLON  : ';' ;
COMMA      : ',' ;
ASSIGN     : '=' ;
STAR       : '*' ;
QUESTION   : '?' ;

// A backslash at its end continues a line, also one that is a comment.
LINE_COMMENT  : '//' ( SPLICE | ~[\n] )* -> channel(HIDDEN) ;
BLOCK_COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
SPACE         : ( [ \t\r\n\f\u000B\uFEFF] | SPLICE )+ -> channel(HIDDEN) ;
fragment SPLICE : '\\' '\r'? '\n' ;

HASH         : '#' ;
BAD_STRING   : '"' ( ~["\\\n] | '\\' ~[\n] | SPLICE )* ;
OPEN_COMMENT : '/*' ( ~'*' | '*'+ ~[*/] )* '*'* EOF ;  // longer than a closed one: it must not hold a `*/`
BAD          : . ;
