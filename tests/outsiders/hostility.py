"""A grammar of hostile HTTP: requests as bytes, each part of which may be right, wrong, or no HTTP at all.

Every request holds the canary, in a header at least. Most are odd in one respect alone, and so come past the parser.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from hypothesis import strategies as st

from tests.outsiders.oddities import (
    CANARY,
    DOCUMENTS,
    FRAMINGS,
    HEADERS,
    METHODS,
    ODD_JSON,
    ODD_TEXTS,
    PARAMETERS,
    PATHS,
    TOKENS,
    VERSIONS,
)


@dataclass(frozen=True, slots=True)
class HostileRequest:
    """Bytes to send. After one that `is_cut` the client has no more to say and goes away, whatever it had announced."""

    content: bytes
    is_cut: bool

    def __repr__(self) -> str:
        """As much of it as can be read."""
        return f"HostileRequest({self.content[:2_000]!r}, {len(self.content)} bytes, is_cut={self.is_cut})"


def odd_texts() -> st.SearchStrategy[str]:
    """A text beside which the canary stands, or which stands alone."""
    odd = st.sampled_from(ODD_TEXTS) | st.text(max_size=12)
    return st.builds(str.__add__, st.sampled_from(["", CANARY]), odd)


def documents(*, large: bool = True) -> st.SearchStrategy[str]:
    """GraphQL, nearly: a document with odd values, any tokens at all, or a `large` one."""
    values = st.sampled_from(TOKENS + ODD_JSON)
    filled = st.builds(str.format, st.sampled_from(DOCUMENTS), values, values)
    soup = st.lists(st.sampled_from(TOKENS), max_size=25).map(" ".join)
    depths = st.sampled_from([5, 60, 300, 3_000])
    nested = st.builds(lambda depth, piece: "{ viewer " * depth + piece + "}" * depth, depths, st.sampled_from(TOKENS))
    many = st.builds(lambda count, piece: "{" + f"{piece} " * count + "}", st.sampled_from([3, 40, 2_000]), values)
    return st.one_of(filled, filled, soup, nested, many) if large else filled | soup


def bodies() -> st.SearchStrategy[bytes]:
    """The body of a GraphQL request or of a review, with members missing, twice, or no JSON; or any bytes."""
    quoted = documents().map(_json_text)
    members = st.lists(
        st.one_of(
            st.tuples(st.just("query"), quoted | st.sampled_from(ODD_JSON)),
            st.tuples(st.sampled_from(PARAMETERS[1:5]), st.sampled_from(ODD_JSON)),
            st.tuples(st.sampled_from(["outcome", CANARY, ""]), st.sampled_from(['"untrue"', *ODD_JSON])),
        ),
        max_size=4,
    )
    objects = members.map(lambda pairs: "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}")
    batches = st.lists(objects, max_size=3).map(lambda each: f"[{','.join(each)}]")
    encodings = st.sampled_from(["utf-8"] * 8 + ["utf-16", "utf-32", "utf-8-sig", "utf-16-be"])
    spelled = st.builds(_encoded, st.one_of(objects, objects, objects, batches, st.sampled_from(ODD_JSON)), encodings)
    return spelled | st.binary(max_size=40).map(lambda content: content + CANARY.encode())


def _json_text(text: str) -> str:
    """A JSON string, whose control characters stand as they are where JSON forbids it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _encoded(text: str, encoding: str) -> bytes:
    return f"{text} ".encode(encoding, "surrogatepass")


def _escaped(text: str, keeps: str) -> str:
    return quote(text, safe=keeps, errors="surrogatepass")


def queries(*names: str, bare: bool = False) -> st.SearchStrategy[str]:
    """A query string with odd values of these parameters; `bare` leaves letters unescaped that no target may hold."""
    short = odd_texts() | st.sampled_from(TOKENS) | st.sampled_from([each for each in ODD_JSON if len(each) < 300])
    value = st.builds(_escaped, short, st.sampled_from(["", "".join(map(chr, range(128)))]) if bare else st.just(""))
    right = st.sampled_from(["public", "restricted", "1", "true"])
    pairs = st.lists(st.builds("{}={}".format, st.sampled_from(names), value | right), max_size=3)
    return pairs.map(lambda pairs: "&".join([*pairs, f"x={CANARY}"] if bare else pairs))


def _request(method: str, target: str, headers: Sequence[str], body: bytes, token: str) -> HostileRequest:
    """A request that is HTTP, of a caller with the token."""
    usual = ["host: gateway.test", f"x-any: {CANARY}", "connection: close", f"authorization: Bearer {token}"]
    head = "\r\n".join([f"{method} {target} HTTP/1.1", *usual, *headers, f"content-length: {len(body)}"])
    return HostileRequest(head.encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body, is_cut=False)


def _odd_content(token: str) -> st.SearchStrategy[HostileRequest]:
    """What is asked for is odd, and how it is asked is not."""
    json = st.just(["content-type: application/json"])
    writing = st.just(["content-type: application/json", f"idempotency-key: {CANARY}"])
    ids = st.builds(_escaped, odd_texts(), st.just(""))
    ceilings = st.sampled_from(["?ceiling=public&", "?"])
    nothing = st.just(b"")

    def asked(method: str, *target: st.SearchStrategy[str]) -> tuple[st.SearchStrategy[str], ...]:
        return st.just(method), st.tuples(*target).map("".join)

    listing = (ceilings, queries(*PARAMETERS[5:]))
    detail = (st.just("/v1/memories/"), ids, ceilings, queries("ceiling", CANARY))
    review = (st.just("/v1/memories/"), ids, st.just("/review"), ceilings)
    asking = (st.just("/graphql?query="), documents(large=False).map(lambda text: _escaped(text, "")), st.just("&"))
    posted = st.builds(_request, *asked("POST", st.just("/graphql")), json, bodies(), st.just(token))
    return st.one_of(
        *[posted] * 4,
        st.builds(_request, *asked("GET", *asking, queries(*PARAMETERS[:5])), json, nothing, st.just(token)),
        st.builds(_request, *asked("GET", st.just("/v1/memories"), *listing), json, nothing, st.just(token)),
        st.builds(_request, *asked("GET", *detail), json, nothing, st.just(token)),
        st.builds(_request, *asked("DELETE", *detail), writing, nothing, st.just(token)),
        st.builds(_request, *asked("POST", *review), writing, bodies(), st.just(token)),
    )


def _odd_head(token: str) -> st.SearchStrategy[HostileRequest]:
    """A question that is right, under any method, with odd headers."""
    odd = st.lists(st.sampled_from(HEADERS), min_size=1, max_size=3)
    headers = odd.map(lambda headers: [each.replace("{token}", token) for each in headers])
    target = st.sampled_from(
        ["/graphql", "/v1/memories?ceiling=public", "/livez", "/v1/memories/1/review?ceiling=public"]
    )
    body = st.sampled_from([b'{"query": "{ viewer { scopes } }"}', b'{"outcome": "untrue"}', b""])
    return st.builds(_request, st.sampled_from(METHODS[:4]), target, headers, body, st.just(token))


@st.composite
def _odd_http(draw: st.DrawFn, token: str) -> HostileRequest:
    """Anything at all, in the order of a request."""
    body = draw(bodies())
    framing = draw(st.sampled_from(FRAMINGS))
    headers = ["host: gateway.test", f"x-any: {CANARY}", "connection: close", f"authorization: Bearer {token}"]
    headers += draw(st.lists(st.sampled_from(HEADERS), max_size=2))
    framed, announced = _framed(framing, body)
    path = draw(st.sampled_from(PATHS)).replace("{}", CANARY)
    target = f"{path}?{draw(queries(*PARAMETERS, bare=True))}"
    line = f"{draw(st.sampled_from(METHODS[:2] * 9 + METHODS))} {target} {draw(st.sampled_from(VERSIONS))}"
    head = "\r\n".join([line, *headers, *announced])
    end = b"" if framing == "no end" else b"\r\n\r\n"
    return HostileRequest(head.encode("utf-8", "surrogatepass") + end + framed, is_cut=framing in ("short", "no end"))


def hostile_requests(token: str) -> st.SearchStrategy[HostileRequest]:
    """A request of a caller with this token."""
    content = _odd_content(token)
    return st.one_of(content, content, _odd_head(token), _odd_http(token))


def _framed(framing: str, body: bytes) -> tuple[bytes, list[str]]:
    """The body as it is sent, and the headers that announce it."""
    length = f"content-length: {len(body)}"
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    chunked = "transfer-encoding: chunked"
    match framing:
        case "exact" | "no end":
            return body, [length]
        case "short":
            return body, [f"content-length: {len(body) + 1_000}"]
        case "long":
            return body, [f"content-length: {len(body) // 2}"]
        case "chunked":
            return chunks, [chunked]
        case "both":
            return chunks, [length, chunked]
        case "bad chunk":
            return b"zz\r\n" + body, [chunked]
        case "trailers":
            return chunks[:-2] + f"x: {CANARY}\r\n\r\n".encode(), [chunked]
        case _:
            return body, []
