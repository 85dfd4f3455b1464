# Written by hand, where the compiler leaves a namespace package: import-linter sees none.
