" Syntax of MF/IDL schemas. Words are held to the compiler's own by tests/lsp/test_grammars.py.
if exists("b:current_syntax")
  finish
endif

syntax case match
syntax sync minlines=200

" No word is reserved: each is a keyword only where it begins or joins a declaration.
syntax match mfidlName "\<\h\w*\>"
syntax match mfidlMember "\<\h\w*\>\ze\s*:"
syntax match mfidlMethod "\<\h\w*\>\ze\s*("
syntax match mfidlDeclared "\<\u\w*\>"
syntax match mfidlType "\<\%(bool\|[iu]\%(8\|16\|32\|64\)\|f32\|f64\|string\|bytes\|timestamp\|duration\|uuid\|list\|array\|set\|map\|ref\|stream\)\>\%(\s*[:(]\)\@!"
syntax match mfidlConstant "\<\%(true\|false\|inf\|nan\)\>\%(\s*[:(]\)\@!"
syntax match mfidlKeyword "\<\%(open\s\+\)\?\%(struct\|error\|union\|enum\|flags\|annotation\|service\|topic\|type\|const\|agent\|module\)\>\ze\s\+\h"
syntax match mfidlKeyword "\<\%(extends\|per\|throws\|as\)\>\ze\s\+\h"
syntax match mfidlInclude "\<import\>\ze\s*\""
syntax match mfidlKeyword "\<reserved\>\ze\s*[\"0-9]"

syntax match mfidlNumber "\<\d[0-9_]*\%(ns\|us\|ms\|s\|min\|h\|d\)\?\>"
syntax match mfidlNumber "\<0[xX]\x[0-9a-fA-F_]*\>"
syntax match mfidlNumber "\<\d[0-9_]*\%(\.\d[0-9_]*\%([eE][+-]\?\d\+\)\?\|[eE][+-]\?\d\+\)\>"
syntax match mfidlOperator "->\|\.\.\|?\|="

syntax match mfidlAnnotation "@\s*\h\w*\%(\.\h\w*\)*"
syntax region mfidlString start=+"+ skip=+\\.+ end=+"+ oneline contains=mfidlEscape
syntax match mfidlEscape "\\\%([nrt0\\\"]\|x\x\x\|u{\x\+}\)" contained
syntax match mfidlComment "//.*$" contains=mfidlTodo,@Spell
syntax match mfidlDoc "///\%(/\)\@!.*$" contains=mfidlTodo,@Spell
syntax region mfidlComment start="/\*" end="\*/" contains=mfidlTodo,@Spell
syntax keyword mfidlTodo TODO FIXME XXX contained

highlight default link mfidlMember Identifier
highlight default link mfidlMethod Function
highlight default link mfidlDeclared Type
highlight default link mfidlType Type
highlight default link mfidlConstant Boolean
highlight default link mfidlKeyword Keyword
highlight default link mfidlInclude Include
highlight default link mfidlNumber Number
highlight default link mfidlOperator Operator
highlight default link mfidlAnnotation PreProc
highlight default link mfidlString String
highlight default link mfidlEscape SpecialChar
highlight default link mfidlComment Comment
highlight default link mfidlDoc SpecialComment
highlight default link mfidlTodo Todo

let b:current_syntax = "mfidl"
