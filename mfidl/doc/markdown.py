"""The light Markdown of doc comments: paragraphs, lists, `code`, fenced code, and links to declarations.

`Hit.title` in backquotes, or [Hit.title], is a link if such a declaration exists. Everything else is text:
HTML in a comment is shown as text.
"""

import re
from collections.abc import Callable, Iterator

from markupsafe import Markup, escape

Resolve = Callable[[str], str | None]  # converts a word of a comment to the address of its declaration

_ITEM = re.compile(r"^\s*(?:[-*]|(\d+)[.)])\s+(.*)$")
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\[(?P<name>[A-Za-z_][\w.]*)\]"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|(?P<url>https?://[^\s<>\"']*[^\s<>\"'.,;:!?)])"
)
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def html(text: str, resolve: Resolve) -> Markup:
    """A doc comment as paragraphs, lists and code."""
    return Markup("\n").join(_blocks(text.splitlines(), resolve))


def summary(text: str, resolve: Resolve) -> Markup:
    """The first paragraph, without a paragraph around it."""
    first = re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0]
    return _inline(" ".join(first.split()), resolve)


def _blocks(lines: list[str], resolve: Resolve) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.strip().startswith("```"):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == "```"), len(lines))
            yield Markup("<pre><code>{}</code></pre>").format("\n".join(_dedented(lines[at + 1 : end])))
            at = end + 1
        elif _ITEM.match(line):
            end = _end_of(lines, at, lambda _: True)
            yield _list(lines[at:end], resolve)
            at = end
        else:
            end = _end_of(lines, at, _is_plain)
            text = " ".join(each.strip() for each in lines[at:end])
            yield Markup("<p>{}</p>").format(_inline(text, resolve))
            at = end


def _is_plain(line: str) -> bool:
    return not _ITEM.match(line) and not line.strip().startswith("```")


def _end_of(lines: list[str], at: int, goes_on: Callable[[str], object]) -> int:
    """The index after the lines that belong together: up to an empty one, or one of another kind."""
    end = at + 1
    while end < len(lines) and lines[end].strip() and goes_on(lines[end]):
        end += 1
    return end


def _list(lines: list[str], resolve: Resolve) -> Markup:
    """Lines that do not begin an item continue the previous one."""
    items: list[str] = []
    numbered = False
    for line in lines:
        found = _ITEM.match(line)
        if found:
            numbered = numbered or found[1] is not None
            items.append(found[2])
        else:
            items[-1] += f" {line.strip()}"
    inside = Markup("").join(Markup("<li>{}</li>").format(_inline(each, resolve)) for each in items)
    tag = "ol" if numbered else "ul"
    return Markup("<{0}>{1}</{0}>").format(tag, inside)


def _inline(text: str, resolve: Resolve) -> Markup:
    pieces = []
    at = 0
    for found in _INLINE.finditer(text):
        pieces += [escape(text[at : found.start()]), _styled(found, resolve)]
        at = found.end()
    return Markup("").join([*pieces, escape(text[at:])])


def _styled(found: re.Match[str], resolve: Resolve) -> Markup:
    if found["strong"]:
        return Markup("<strong>{}</strong>").format(found["strong"])
    if found["url"]:
        return Markup('<a href="{0}" rel="noreferrer">{0}</a>').format(found["url"])
    word = found["code"] or found["name"]
    href = resolve(word) if _NAME.fullmatch(word) else None
    code = Markup("<code>{}</code>").format(word)
    if href is not None:
        return Markup('<a href="{}">{}</a>').format(href, code)
    return code if found["code"] else escape(found[0])


def _dedented(lines: list[str]) -> list[str]:
    margins = [len(each) - len(each.lstrip()) for each in lines if each.strip()]
    return [each[min(margins, default=0) :] for each in lines]
