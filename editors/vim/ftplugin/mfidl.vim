" The style of `mfidlc fmt`, and `mfidlc check` as what :make runs.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal shiftwidth=2 softtabstop=2 expandtab textwidth=110
setlocal commentstring=//\ %s comments=:///,://
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.mfidl include=^\\s*import
setlocal makeprg=mfidlc\ check\ --color\ never\ %:S\ 2>&1
let &l:errorformat = '%Eerror[%.%#]: %m,%Wwarning[%.%#]: %m,%Z%\s%#--> %f:%l:%c,%-G%.%#'
let b:undo_ftplugin = "setlocal sw< sts< et< tw< cms< com< fo< sua< inc< mp< efm<"
