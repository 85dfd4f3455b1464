"""The dashboard of `mf dash`: `board` holds what is known, `follow` gathers it, `door` serves it over HTTP,
and `page` has the three files that a browser gets (docs/dashboard.md)."""
