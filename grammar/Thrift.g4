/*
 * The language of Apache Thrift, as its compiler reads it, with the older forms that files in use still have (senum,
 * slist, async, xsd_..., py_module and its like, fields without numbers).
 *
 * Contract: every decision is LL(1), so the generated parser never predicts by simulation; everything that the builder
 * of the tree (mfidl/foreign/thrift_syntax.py) needs has a label, so no parse tree is built. Comments are on the hidden
 * channel, where mfidl/foreign/comments.py finds them. The lexer refuses nothing: the tokens of the last group are in no
 * rule, so that the parser refuses them with their place. The names of base types are NAMEs.
 */
grammar Thrift;

file : parts+=part* EOF ;

part : statement=header | declaration=definition ( COMMA | SEMICOLON )? ;

header
  : INCLUDE target=STRING
  | CPP_INCLUDE STRING
  | NAMESPACE ( STAR | name ( MINUS name )* ) ( STRING | name ( MINUS name )* ) annotations?
  | OLD_NAMESPACE ( STRING | name )
  ;

definition
  : CONST of=type id=name ASSIGN init=constant                                    # const
  | TYPEDEF of=type id=name annotations?                                          # typedef
  | ENUM id=name opening=OPEN members+=enumMember* CLOSE annotations?                     # enum
  | SENUM id=name opening=OPEN ( STRING ( COMMA | SEMICOLON )? )* CLOSE annotations?      # senum
  | kind=( STRUCT | UNION | EXCEPTION ) id=name XSD_ALL? opening=OPEN fields+=field* CLOSE annotations?     # struct
  | SERVICE id=name ( EXTENDS base=name )? opening=OPEN functions+=function* CLOSE annotations?             # service
  ;

enumMember : id=name ( ASSIGN number=INTEGER )? annotations? ( COMMA | SEMICOLON )? ;

field
  : ( number=INTEGER COLON )? need=( REQUIRED | OPTIONAL )? of=type AMPERSAND? id=name ( ASSIGN init=constant )?
    XSD_OPTIONAL? XSD_NILLABLE? ( XSD_ATTRS OPEN field* CLOSE )? annotations? ( COMMA | SEMICOLON )?
  ;

function
  : oneway=( ONEWAY | ASYNC )? ( VOID annotations? | result=type ) id=name opening=LPAREN parameters+=field* closing=RPAREN
    ( THROWS LPAREN errors+=field* RPAREN )? annotations? ( COMMA | SEMICOLON )?
  ;

type
  : ( id=NAME
    | container=MAP cppType? LESS arguments+=type COMMA arguments+=type GREATER
    | container=( LIST | SET ) cppType? LESS arguments+=type GREATER cppType?
    ) annotations?
  ;
cppType : CPP_TYPE STRING ;

constant
  : number=( INTEGER | FLOAT )
  | text=STRING
  | id=name
  | list=LBRACKET ( parts+=constant ( COMMA | SEMICOLON )? )* RBRACKET
  | map=OPEN ( parts+=constant COLON parts+=constant ( COMMA | SEMICOLON )? )* CLOSE
  ;

// They speak to generators, and are skipped.
annotations : LPAREN ( name ( ASSIGN ( STRING | INTEGER | name ) )? ( COMMA | SEMICOLON )? )* RPAREN ;

name
  : NAME | INCLUDE | CPP_INCLUDE | NAMESPACE | OLD_NAMESPACE | CONST | TYPEDEF | ENUM | SENUM | STRUCT | UNION | EXCEPTION
  | SERVICE | EXTENDS | REQUIRED | OPTIONAL | ONEWAY | ASYNC | VOID | THROWS | MAP | LIST | SET
  ;

INCLUDE       : 'include' ;
CPP_INCLUDE   : 'cpp_include' ;
NAMESPACE     : 'namespace' ;
OLD_NAMESPACE
  : 'cpp_namespace' | 'php_namespace' | 'py_module' | 'perl_package' | 'ruby_namespace' | 'smalltalk_category'
  | 'smalltalk_prefix' | 'java_package' | 'cocoa_package' | 'csharp_namespace' | 'delphi_namespace' | 'xsd_namespace'
  ;
CONST         : 'const' ;
TYPEDEF       : 'typedef' ;
ENUM          : 'enum' ;
SENUM         : 'senum' ;
STRUCT        : 'struct' ;
UNION         : 'union' ;
EXCEPTION     : 'exception' ;
SERVICE       : 'service' ;
EXTENDS       : 'extends' ;
REQUIRED      : 'required' ;
OPTIONAL      : 'optional' ;
ONEWAY        : 'oneway' ;
ASYNC         : 'async' ;
VOID          : 'void' ;
THROWS        : 'throws' ;
MAP           : 'map' ;
LIST          : 'list' ;
SET           : 'set' ;
CPP_TYPE      : 'cpp_type' ;
XSD_ALL       : 'xsd_all' ;
XSD_OPTIONAL  : 'xsd_optional' ;
XSD_NILLABLE  : 'xsd_nillable' ;
XSD_ATTRS     : 'xsd_attrs' ;

// With the points of names behind the name of an included file.
NAME    : [A-Za-z_] ( '.'? [A-Za-z_0-9] )* ;
FLOAT   : [+-]? ( [0-9]+ '.' [0-9]* | '.' [0-9]+ ) ( [eE] [+-]? [0-9]+ )? | [+-]? [0-9]+ [eE] [+-]? [0-9]+ ;
INTEGER : [+-]? ( '0' [xX] [0-9a-fA-F]+ | [0-9]+ ) ;
// On one line; escapes are \n \r \t \" \' \\ and, in what was made from Thrift, those of C.
STRING  : '"' ( ~["\\\n] | '\\' ~[\n] )* '"' | '\'' ( ~['\\\n] | '\\' ~[\n] )* '\'' ;

OPEN      : '{' ;
CLOSE     : '}' ;
LPAREN    : '(' ;
RPAREN    : ')' ;
LESS      : '<' ;
GREATER   : '>' ;
LBRACKET  : '[' ;
RBRACKET  : ']' ;
COLON     : ':' ;
SEMICOLON : ';' ;
COMMA     : ',' ;
ASSIGN    : '=' ;
STAR      : '*' ;
AMPERSAND : '&' ;
MINUS     : '-' ;

LINE_COMMENT  : ( '//' | '#' ) ~[\n]* -> channel(HIDDEN) ;
BLOCK_COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
SPACE         : [ \t\r\n\f\u000B\uFEFF]+ -> channel(HIDDEN) ;

BAD_STRING   : '"' ( ~["\\\n] | '\\' ~[\n] )* | '\'' ( ~['\\\n] | '\\' ~[\n] )* ;
OPEN_COMMENT : '/*' ( ~'*' | '*'+ ~[*/] )* '*'* EOF ;  // longer than a closed one: it must not hold a `*/`
BAD          : . ;
