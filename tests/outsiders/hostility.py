"""A grammar of hostile HTTP: requests as bytes, each part of which may be right, wrong, or no HTTP at all.

Every request holds the canary, in its target, in a header and in its body.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

CANARY = "zwergbrombeere"

ODD_TEXTS = [
    *(
        "",
        " ",
        "0",
        "-1",
        "null",
        "true",
        "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        "İstanbul",
    ),
    *("'; drop table beliefs; --", '"', "\\", "%", "%00", "%s%n", "../../etc/passwd", "{{7*7}}", "<script>", "\r\n"),
    *(
        "\x00",
        "\x7f",
        "\u202e",
        "\ufeff",
        "a" * 300,
        "a" * 5_000,
        "9" * 70,
        "1e400",
        "2026-W01",
        "00000000-0000-4000-8000-000000000001",
    ),
    *("eyJwIjotMSwiaSI6IjAwMDAwMDAwLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSJ9", "public", "RESTRICTED", "restricted"),
]
ODD_JSON = [
    *(
        "null",
        "true",
        "0",
        "-0",
        "5",
        "1.0",
        "1e5",
        "1e400",
        "-1e400",
        "NaN",
        "Infinity",
        "9" * 70,
        "9" * 5_000,
        "01",
        "+1",
    ),
    *(
        '""',
        '"\\u0000"',
        '"\\ud800"',
        '"\\ud83d\\ude00"',
        '"\\x"',
        '"',
        "[]",
        "{}",
        "[,]",
        "{,}",
        '{"a":1,"a":2}',
        "[[[[1]]]]",
    ),
    *(
        "[" * 70 + "]" * 70,
        "[" * 5_000,
        '{"a":' * 70 + "1" + "}" * 70,
        '{"a":' * 5_000,
        "/* */ 1",
        "'x'",
        "undefined",
        "",
    ),
    *('"PUBLIC"', '"ACTIVE"', '["ACTIVE"]', '{"__proto__":{}}', f'"{CANARY}"', f'["{CANARY}"]', f'{{"{CANARY}":1}}'),
]
TOKENS = [
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        "$",
        "!",
        "|",
        "&",
        "=",
        "@",
        "...",
        ",",
        "#",
        '"',
        '"""',
        "\\",
        "\x00",
        "\ufeff",
    ),
    *("query", "mutation", "subscription", "fragment", "on", "true", "null", "input", "schema", "extend", "type"),
    *(
        "viewer",
        "scopes",
        "memories",
        "memory",
        "memoryOverview",
        "nodes",
        "edges",
        "node",
        "id",
        "supersedes",
        "pageInfo",
    ),
    *("__typename", "__schema", "__type", "types", "name", "ceiling", "PUBLIC", "first", "statuses", "deleteMemory"),
    *(
        "@include(if: true)",
        "@skip(if: $x)",
        "@deprecated",
        "@stream",
        "@defer",
        "1e400",
        "9" * 40,
        '"\\u0000"',
        '"\\uD800"',
    ),
    *(CANARY, f'"{CANARY}"', f"# {CANARY}\n", f"${CANARY}", f"{CANARY}: viewer", f"@{CANARY}"),
]
DOCUMENTS = [
    "{{ viewer {{ scopes }} }} # {0}",
    "{{ memory(id: {0}, ceiling: PUBLIC) {{ id statement supersedes {{ id }} }} }}",
    "{{ memories(ceiling: {0}) {{ totalCount }} }}",
    "{{ memories(ceiling: PUBLIC, first: {0}, after: {1}) {{ nodes {{ id }} pageInfo {{ hasPreviousPage }} }} }}",
    "{{ memories(ceiling: PUBLIC, statuses: {0}, text: {1}) {{ edges {{ cursor }} }} }}",
    "{{ memories(ceiling: PUBLIC, subject: {0}, sessionId: {1}) {{ totalCount }} }}",
    "mutation {{ deleteMemory(input: {{id: {0}, ceiling: PUBLIC, idempotencyKey: {1}}}) {{ deletedId }} }}",
    'mutation {{ reviewMemory(input: {{id: {0}, ceiling: PUBLIC, outcome: {1}, idempotencyKey: "k"}}) {{ memory {{ id }} }} }}',
    "query($x: {0} = {1}) {{ viewer {{ scopes }} }}",
    "{{ a: viewer {{ {0} }} b: viewer {{ {1} }} }}",
    "{{ ...F }} fragment F on Query {{ ...G ...G }} fragment G on {0} {{ ...F {1} }}",
    "query A {{ viewer {{ scopes }} }} query B {{ {0} {1} }}",
]
METHODS = [
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "QUERY",
    "PRI",
    "G\x00T",
    "A" * 300,
    "",
]
VERSIONS = ["HTTP/1.1"] * 8 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTP", ""]
PATHS = ["/graphql"] * 4 + [
    *(
        "/v1/memories",
        "/v1/memories",
        "/v1/memories/{}",
        "/v1/memories/{}/review",
        "/openapi.json",
        "/livez",
        "/readyz",
        "/{}",
    ),
    *(
        "/graphql/",
        "//graphql",
        "/graphql/../v1/memories",
        "/v1/memories/",
        "*",
        "http://elsewhere.test/graphql",
        "graphql",
        "/v1/memories;{}",
        "/%2e%2e/{}",
        "/\u00e9",
        "/graphql#x",
    ),
]
PARAMETERS = [
    "query",
    "variables",
    "operationName",
    "extensions",
    "documentId",
    "ceiling",
    "ceiling",
    "ceiling",
    "limit",
    "cursor",
    "status",
    "belief_type",
]
PARAMETERS += ["subject", "session_id", "text", "flagged", "include_derived", CANARY, "", "%", "a[b]"]
HEADERS = [
    *(
        "content-type: application/json",
        "content-type: application/json; charset=utf-8",
        "content-type: application/jsonx",
    ),
    *(
        "content-type: text/plain",
        "content-type: multipart/form-data; boundary=x",
        "content-type: application/json; charset=utf-16",
    ),
    *(
        "content-type: ",
        "accept: */*",
        "accept: application/graphql-response+json",
        "accept: text/html",
        "accept: ;;q=x",
        "accept: " + "a/b," * 2_000,
    ),
    *("authorization: Bearer {token}",) * 6,
    *(
        "authorization: Bearer ",
        "authorization: Basic eDp4",
        f"authorization: Bearer {CANARY}",
        "authorization: Bearer {token} {token}",
    ),
    *(
        "idempotency-key: key",
        "idempotency-key: ",
        "idempotency-key: " + "k" * 300,
        f"idempotency-key: {CANARY}",
        "idempotency-key: k\x01",
    ),
    *(
        "x-request-id: ",
        f"x-request-id: {CANARY}",
        "x-request-id: " + "r" * 300,
        "x-request-id: \x00",
        "origin: null",
        f"origin: http://{CANARY}",
    ),
    *(
        "host: {0}",
        "host: elsewhere.test",
        "host: ",
        "expect: 100-continue",
        "expect: nothing",
        "upgrade: websocket",
        "upgrade: h2c",
    ),
    *(
        "content-encoding: gzip",
        "cookie: a=b",
        "range: bytes=0-1",
        "if-none-match: *",
        "x-forwarded-for: 1.2.3.4",
        "forwarded: for=x",
        "te: trailers",
    ),
    *(
        "no colon",
        ": no name",
        " folded",
        "x y: z",
        "x\x00: z",
        "x: \x00",
        "x: \xff",
        "x" * 9_000 + ": y",
        "x: " + "y" * 40_000,
        "connection: upgrade, close",
        "keep-alive: 1",
    ),
    *(
        "transfer-encoding: identity",
        "transfer-encoding: gzip, chunked",
        "content-length: -1",
        "content-length: 1, 1",
        "content-length: 99999999999999999999",
    ),
]
FRAMINGS = ["exact"] * 8 + ["chunked", "chunked", "short", "long", "both", "bad chunk", "none", "no end", "trailers"]


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


def documents() -> st.SearchStrategy[str]:
    """GraphQL, nearly: a document with odd values, one nested deeply, or any tokens at all."""
    values = st.sampled_from(TOKENS + ODD_JSON)
    filled = st.builds(str.format, st.sampled_from(DOCUMENTS), values, values)
    soup = st.lists(st.sampled_from(TOKENS), max_size=25).map(" ".join)
    depths = st.sampled_from([5, 60, 300, 3_000])
    nested = st.builds(lambda depth, piece: "{ viewer " * depth + piece + "}" * depth, depths, st.sampled_from(TOKENS))
    many = st.builds(lambda count, piece: "{" + f"{piece} " * count + "}", st.sampled_from([3, 40, 2_000]), values)
    return st.one_of(filled, filled, soup, nested, many)


def bodies() -> st.SearchStrategy[bytes]:
    """The body of a GraphQL request or of a review, members of which may be missing, twice, or no JSON; or any bytes."""
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
    return "".join(
        letter
        if letter in keeps or letter.isalnum() and letter.isascii()
        else "".join(f"%{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))
        for letter in text
    )


def targets() -> st.SearchStrategy[str]:
    """A target with odd parameters, escaped or not."""
    keeps = st.sampled_from(["-_.", "-_.", "".join(map(chr, range(128)))])
    text = st.builds(_escaped, odd_texts() | documents(), keeps)
    path = st.builds(str.format, st.sampled_from(PATHS), text)
    pairs = st.lists(
        st.builds("{}={}".format, st.sampled_from(PARAMETERS), st.sampled_from(["public", "1"]) | text), max_size=4
    )
    return st.builds(
        lambda path, pairs: f"{path}?{'&'.join([*pairs, f'x={CANARY}'])}", path, pairs | st.just(["ceiling=public"])
    )


@st.composite
def hostile_requests(draw: st.DrawFn, token: str) -> HostileRequest:
    """A request of a caller with this token, who may leave it out."""
    body = draw(bodies())
    framing = draw(st.sampled_from(FRAMINGS))
    headers = ["host: gateway.test", f"x-any: {CANARY}", "connection: close", "content-type: application/json"]
    headers += [each.replace("{token}", token) for each in draw(st.lists(st.sampled_from(HEADERS), max_size=5))]
    headers = draw(st.permutations(headers)) if draw(st.integers(0, 5)) == 0 else headers
    framed, announced = _framed(framing, body)
    line = f"{draw(st.sampled_from(METHODS[:2] * 5 + METHODS))} {draw(targets())} {draw(st.sampled_from(VERSIONS))}"
    head = "\r\n".join([line, *headers, *announced])
    end = b"" if framing == "no end" else b"\r\n\r\n"
    return HostileRequest(head.encode("utf-8", "surrogatepass") + end + framed, is_cut=framing in ("short", "no end"))


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
