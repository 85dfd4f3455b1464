"""`mf cheat`: what to type for a task."""

import click

from mf_tools.guard import USAGE, CommandError
from mf_tools.output import emit, line, painted

RECIPES: tuple[tuple[str, str], ...] = (
    ("name an address", "mf context add lab mf://127.0.0.1:7400 --use"),
    (
        "name an address over TLS, with a token",
        "mf context add prod mf+tls://host:7443 --ca ca.pem --token-stdin",
    ),
    ("see what is registered", "mf ls"),
    ("see each instance, and whether it answers", "mf ls --health"),
    ("see all of it in a browser, while it changes", "mf dash"),
    ("watch calls a second on the terminal", "mf top --monitor 127.0.0.1:9465"),
    ("read a service's schema", "mf describe shop.Shop"),
    ("get a template of a request", "mf call shop.Shop.find --example"),
    ("call a method", 'mf call shop.Shop.find \'{"word": "sea"}\''),
    ("call it at one agent", "mf call shop.Shop.notes --at books"),
    ("call it at all agents", "mf call shop.Shop.notes --everywhere"),
    ("call it for many requests", "mf call shop.Shop.item --batch @requests.json"),
    ("read a stream", "mf call shop.Shop.count '{\"to\": 3}'"),
    ("write a stream", "mf call shop.Shop.total '{\"start\": 0}' --values numbers.ndjson"),
    ("watch a topic", "mf sub shop.Sales books"),
    ("publish a message", 'mf pub shop.Sales --agent books \'{"title": "A map", "count": 1}\''),
    ("record a topic, and play it again", "mf record shop.Sales sales.rec --for 60"),
    ("play it again ten times as fast", "mf replay sales.rec --speed 10"),
    ("record the calls of a server", "mf record --calls shop_server.py calls.rec --method find --for 60"),
    ("make them again, and compare", "mf replay calls.rec --again shop.Shop.find --results"),
    ("make them again as load", "mf replay calls.rec --again 'shop.Shop.*' --speed 0 --open 500"),
    ("send a flexible message", "mf send north tag=input data=[1,2,3]"),
    ("receive flexible messages", "mf recv north tag=input"),
    ("see flexible processes and groups", "mf groups"),
    ("run a command in one place at a time", "mf lead nightly -- ./nightly.sh"),
    ("find out why an address does not work", "mf doctor mf://127.0.0.1:7400"),
    ("find out why a service cannot be called", "mf doctor --service shop.Shop"),
    ("gather what a report of a fault needs", "mf audit gather report.tar.gz --log server.log"),
    ("understand a code", "mf errors UNAVAILABLE"),
    ("see the calls that pass a server", "mf tap shop_server.py --method find"),
    ("log more for a while", "mf log-level shop_server.py debug"),
    ("stop a server after its calls", "mf drain shop_server.py"),
    ("measure round trips", "mf latency shop.Shop"),
    ("measure a method under load", "mf bench shop.Shop.find --rate 500 --for 10 --out run.json"),
    ("compare with an earlier run", "mf bench shop.Shop.find --rate 500 --for 10 --compare run.json"),
    ("make a test authority and a certificate", "mf certs authority ca"),
    ("issue a certificate by it", "mf certs issue web --authority ca --dns localhost --ip 127.0.0.1"),
    ("see how long certificates last", "mf certs show web.pem ca/ca.pem"),
    ("ask an access file", "mf access check access.conf token:web-1 call shop.Shop.find"),
    ("make a key for tokens", "mf token key tokens"),
    ("sign a token", "mf token new --key tokens --sub web-1 --aud shop.Shop --for 1h --out web-1.token"),
    ("see what a token says", "mf token show web-1.token --keys tokens.pub"),
    ("complete commands in bash", 'eval "$(mf completion bash)"'),
)


@click.command()
@click.argument("word", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")
def command(word: str | None, as_json: bool) -> None:
    """Show recipes; with WORD, those in which it occurs."""
    found = [each for each in RECIPES if word is None or word.lower() in " ".join(each).lower()]
    if not found:
        raise CommandError(f"no recipe has the word '{word}'", USAGE)
    if as_json:
        emit([{"task": task, "command": text} for task, text in found])
        return
    for task, text in found:
        painted(task, "bold")
        line(f"  {text}")
