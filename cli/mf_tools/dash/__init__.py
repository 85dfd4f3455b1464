"""The dashboard of `mf dash`: `board` holds what is known, `follow` gathers it, `door` serves it over HTTP,
and `page` has the files that a browser gets, from a controller, too (docs/dashboard.md)."""
