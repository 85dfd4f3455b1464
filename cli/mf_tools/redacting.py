"""Texts for a report of a fault: without secrets, and with numbers in place of names of hosts, addresses,
users and identities.

A name has the same number in all texts of one bundle, so that "host-3" may be followed from the registry
into a log. Loopback stays, and so do names of services, agents and processes. It is a filter by patterns, and
leaves what fits none of them as it is.
"""

import ipaddress
import re

_SECRET = "(left-out)"
_INSIDE = (
    r"token|password|passwd|pwd|passphrase|secret|credential|authorization|api[_-]?key|private[_-]?key|cookie"
)
"""Words that make a name one of a secret wherever they are in it."""
_ALONE = r"auth|pass|sig|signature"
"""Words that do so as a name, or as the last part of one: "author" names no secret."""
_SECRETS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\bv[1-4]\.(?:public|local)\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?"),
    re.compile(r"\bk[1-4]\.(?:secret|local|public)\.[A-Za-z0-9_-]{8,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"),
    re.compile(r"(?<=://)[^\s/\"']+(?=@)"),
    re.compile(r"\b(?:Bearer|Basic) +[A-Za-z0-9+/=._~-]{6,}", re.IGNORECASE),
)
_HEADER = re.compile(
    r"(?P<name>\b(?:(?:proxy-)?authorization|(?:set-)?cookie2?)[ \t]*[:=][ \t]*)\S[^\n]*", re.IGNORECASE
)
"""The rest of the line is secret: its words, and what is quoted in it."""
_STRING = r"\"(?:[^\"\\\n]|\\.)*(?:\"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.|'')*(?:'|(?=\n)|\Z)"
_VALUES = (
    r"\"{3}[\s\S]*?(?:\"{3}|\Z)",
    r"'{3}[\s\S]*?(?:'{3}|\Z)",
    r"(?P<quote>\\+[\"'])[^\n]*?(?<!\\)(?P=quote)",  # a string in a string
    _STRING,
    rf"\[(?:{_STRING}|[^\]\"'])*(?:\]|\Z)",
    rf"\{{(?:{_STRING}|[^}}\"'])*(?:\}}|\Z)",
    r"(?:[|>][-+\d]*[ \t]*)?(?:\n(?:[ \t]+|[ \t]*-[ \t])[^\n]+)+",  # what YAML indents
    r"(?:[^\s,;&}\]]|[,;&}\]](?!\s|\Z|[\w.-]+[=:]|[\"',;&}\]]))+",
)
_ASSIGNED = re.compile(
    rf"(?P<name>(?<![\w.-])(?P<key>[\w.-]*(?:{_INSIDE})[\w.-]*|(?:[\w.-]*[_.-])?(?:{_ALONE}))"
    r"(?:(?:\\*[\"'])?[ \t]*=[=>]?[ \t]*|\\*[\"']\s*:[ \t]*|\\*[\"']\s*,\s*(?=\\*[\"'])"
    r"|:[ \t]+|:(?=\n)|(?<!token):))"  # token:NAME is an identity
    rf"(?P<value>{'|'.join(_VALUES)})",
    re.IGNORECASE,
)
_NAMES_FILE = re.compile(r"[_.-](?:file|keys|path)\Z", re.IGNORECASE)
_PATH = re.compile(r"[\"']?(?:[./~]|[A-Za-z0-9_.-]+\.(?:token|pub|key|pem|conf)\b)")
_SURELY_PATH = re.compile(r"[\"']?(?:~|\.\.?)?(?:/[\w.-]+)+\.(?:token|pub|key|pem|conf)[\"']?")
_IDENTITY = re.compile(r"\b(?:spiffe://[^\s\"',;)]+|dns:[A-Za-z0-9.*-]+|token:[^\s\"',;)]+|uid:\d+)")
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.%]{2,}\]")
_BARE_IPV6 = re.compile(
    r"(?<![\w:.\[%-])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4})(?:%\w+)?(?![\w:])"
)
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]|\.\d)")
_HOST = re.compile(r"(?:(?<=://)|(?<=@))[A-Za-z0-9][A-Za-z0-9.-]*(?=[:/\s\"',;)]|\Z)")
_HOST_AND_PORT = re.compile(
    r"(?<![\w.@/-])(?:[A-Za-z0-9-]+\.)+(?!(?:py|[ch]pp|h|conf|toml|json|ya?ml|mfidl|log|txt|md|pem|pub|key|token):)"
    r"[A-Za-z][A-Za-z0-9-]*(?=:\d{1,5}(?![\w.]))"
)
"""A name with a port behind it, which is no file with the number of a line."""
_HOME = re.compile(r"(?<=/home/)[^/\s\"']+")
_LOOPBACK = ("localhost",)


class Redacted:
    """One bundle. With `keep_names` only secrets are left out."""

    def __init__(self, *, keep_names: bool) -> None:
        self._keep_names = keep_names
        self._numbers: dict[str, dict[str, str]] = {}
        """By kind and name."""

    def text(self, text: str) -> str:
        text = _HEADER.sub(rf"\g<name>{_SECRET}", text)
        for pattern in _SECRETS:
            text = pattern.sub(_SECRET, text)
        text = _ASSIGNED.sub(_assigned, text)
        if self._keep_names:
            return text
        text = _IDENTITY.sub(lambda match: self._named(_kind(match[0]), match[0]), text)
        text = _IPV6.sub(lambda match: f"[{self._address(match[0][1:-1])}]", text)
        text = _BARE_IPV6.sub(lambda match: self._bare(match[0]), text)
        text = _IPV4.sub(lambda match: self._address(match[0]), text)
        text = _HOST.sub(lambda match: self._host(match[0]), text)
        text = _HOST_AND_PORT.sub(lambda match: self._host(match[0]), text)
        return _HOME.sub(lambda match: self._named("user", match[0]), text)

    def _named(self, kind: str, name: str) -> str:
        of = self._numbers.setdefault(kind, {})
        return of.setdefault(name, f"{kind}-{len(of) + 1}")

    def _address(self, text: str) -> str:
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return text
        plain = address.is_loopback or address.is_unspecified
        return text if plain else self._named("address", str(address))

    def _bare(self, text: str) -> str:
        """A colon behind an address belongs to the sentence."""
        if text.endswith(":") and not text.endswith("::"):
            return self._address(text[:-1]) + ":"
        return self._address(text)

    def _host(self, name: str) -> str:
        known = name.lower() in _LOOPBACK or re.fullmatch(r"(?:address|host)-\d+", name)
        if known or _IPV4.fullmatch(name):
            return name
        return self._named("host", name.lower())


def _kind(identity: str) -> str:
    return "identity-" + identity.partition(":")[0]


def _assigned(match: re.Match[str]) -> str:
    """A path of a file with a secret is no secret, but a secret may begin like a path."""
    value = match["value"]
    is_path = bool(_NAMES_FILE.search(match["key"]) and _PATH.match(value)) or _SURELY_PATH.fullmatch(value)
    if is_path or value == _SECRET:
        return match[0]
    return f"{match['name']}{_SECRET}"
