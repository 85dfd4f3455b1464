"""R1. The fast functions of a type, made from its shape when a codec first needs them.

For each struct or union a few functions are written as Python text (straight-line code, one branch a number
that takes one byte), compiled, and kept with the shape:

    write_one(out, value)        appends a value
    write(out, values)           appends the values, one behind the other
    read_one(data, pos)          -> (value, position behind it)
    read(data, pos, count)       -> (list of `count` values, position behind them)
    write_parts(out, *parameters)   appends one request
    check_written(value), check_read(value)     give up on a violated constraint; None where nothing has any

A list field is a batch inside. Functions of types that can nest without bound take the depth as one argument
more. They raise what `malformed.GIVE_UP` lists and explain nothing: the careful reader and writer do.

`lenient` makes a second set, whose readers come where the first give up: they take archive messages as other
writers may send them, and ask for memory before they take it, so their `data` is mf.codec.metered's.

Why not in the generated modules: the text is long, few programs use every type both ways, and a schema of
160 structs would take longer to import than all of this takes for the types that are used. Their source
shows in tracebacks and debuggers as `mf/codec of <type>`.
"""

from mf.codec.fast.functions import Functions, functions, lenient

__all__ = ["Functions", "functions", "lenient"]
