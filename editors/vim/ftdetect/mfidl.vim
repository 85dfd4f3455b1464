autocmd BufRead,BufNewFile *.mfidl setfiletype mfidl
