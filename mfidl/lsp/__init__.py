"""F8. `mfidlc lsp`: a language server on the compiler's own front end.

    text        positions of editors to offsets and back; documents that are being edited
    store       files as the loader reads them: open documents first, trees kept as long as nothing changes
    workspace   folders, where imports are searched, analyses of one file and of all
    place       what is at a place of a text: a name with its meaning, or what may be written there
    answers/    one module for each kind of question, from an analysis to the answer as the protocol has it
    server      the wiring: which request gets which answer, and when an analysis is made

One thread (the worker) makes analyses and owns all that is kept; the thread that talks to the editor only
reads finished ones. What an editor asks for on every key (completion, the signature of an annotation) is
answered at once, from the words around the place and the last analysis; anything else waits for the analysis
of the text as it is.
"""
