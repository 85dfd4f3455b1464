/*
 * The whole language of MF/IDL, including what this version of the compiler refuses later, in its own words.
 *
 * Contract: every decision is LL(1), so the generated parser never predicts by simulation; everything that the tree
 * builder needs has a label, so no parse tree is built. What words mean (types, annotations, `reserved`, `stream`) is
 * not decided here, for better messages.
 */
parser grammar MfidlParser;

options { tokenVocab = MfidlLexer; }

file : items+=item* EOF ;

item : annotations+=annotation* declaration=decl | SEMICOLON ;

decl
  : a=moduleDecl | b=importDecl | c=constDecl | d=aliasDecl | e=agentDecl | f=enumDecl | g=flagsDecl | h=structDecl
  | i=serviceDecl | j=topicDecl
  ;

moduleDecl  : MODULE id=path SEMICOLON ;
importDecl  : IMPORT target=STRING ( AS alias=name )? SEMICOLON ;
constDecl   : CONST id=name COLON of=type annotations+=annotation* ASSIGN init=value SEMICOLON ;
aliasDecl   : TYPE id=name ASSIGN of=type annotations+=annotation* SEMICOLON ;
agentDecl   : AGENT id=name COLON of=type SEMICOLON ;
enumDecl    : open=OPEN? ENUM id=name ( COLON base=type )? body=enumBody ;
flagsDecl   : FLAGS id=name ( COLON base=type )? body=enumBody ;
structDecl  : kind=( STRUCT | ERROR | UNION | ANNOTATION ) id=name ( body=structBody | SEMICOLON ) ;
serviceDecl : SERVICE id=name ( EXTENDS base=path )? ( PER agent=path )? body=serviceBody ;
topicDecl   : TOPIC id=name ( PER agent=path )? COLON of=type annotations+=annotation* SEMICOLON ;

enumBody   : opening=OPEN_BRACE ( members+=enumMember ( COMMA members+=enumMember? )* )? CLOSE ;
enumMember : annotations+=annotation* id=name ( ASSIGN number=value )? after+=annotation* ;

structBody : opening=OPEN_BRACE members+=structMember* CLOSE ;
// A type, a field, or `reserved 5, "old_name"`: the last two are told apart by what follows the first name.
structMember
  : annotations+=annotation*
    ( inner=innerDecl
    | ( number=integer COLON )? id=name
      ( COLON of=type after+=annotation* ( ASSIGN init=value after+=annotation* )?
      | reserved+=reservedItem ( COMMA reserved+=reservedItem )*
      ) SEMICOLON
    )
  ;
// A type that is declared within a struct, error, union or service.
innerDecl
  : kind=INNER_STRUCT id=name body=structBody
  | open=INNER_OPEN? kind=INNER_ENUM id=name ( COLON base=type )? members=enumBody
  | kind=INNER_TYPE id=name ASSIGN of=type after+=annotation* SEMICOLON
  ;
reservedItem : text=STRING | low=integer ( DOTS high=integer )? ;

serviceBody : opening=OPEN_BRACE methods+=method* CLOSE ;
method
  : annotations+=annotation*
    ( inner=innerDecl
    | id=name params=fieldList
      ( arrow=ARROW ( results=fieldList | of=type after+=annotation* ) )?
      ( THROWS errors+=path ( COMMA errors+=path )* )? SEMICOLON
    )
  ;
fieldList : opening=LPAREN ( fields+=field ( COMMA fields+=field? )* )? RPAREN ;
field
  : annotations+=annotation* ( number=integer COLON )? id=name COLON of=type after+=annotation*
    ( ASSIGN init=value after+=annotation* )?
  ;

type    : id=path ( LESS arguments+=typeArgument ( COMMA arguments+=typeArgument )* GREATER )? optional+=QUESTION* ;
typeArgument : of=type annotations+=annotation* | number=integer ;

annotation : AT id=path ( opening=LPAREN ( arguments+=argument ( COMMA arguments+=argument? )* )? RPAREN )? ;
argument   : left=value ( ASSIGN right=value | dots=DOTS right=value? )? | dots=DOTS right=value ;

value
  : minus=MINUS ( number=( INTEGER | HEX | FLOAT | DURATION | BAD_NUMBER ) | id=path )
  | number=( INTEGER | HEX | FLOAT | DURATION | BAD_NUMBER )
  | text=( STRING | BAD_STRING )
  | id=path
  | list=LBRACKET ( elements+=value ( COMMA elements+=value? )* )? RBRACKET
  | brace=OPEN_BRACE ( entries+=entry ( COMMA entries+=entry? )* )? CLOSE
  ;
entry   : key=value COLON held=value ;
integer : token=( INTEGER | HEX | BAD_NUMBER ) ;

path : parts+=name ( DOT parts+=name )* ;
name
  : token=( NAME | AGENT | ANNOTATION | AS | CONST | ENUM | ERROR | EXTENDS | FLAGS | IMPORT | MODULE | OPEN | PER | SERVICE | STRUCT
  | THROWS | TOPIC | TYPE | UNION )
  ;
