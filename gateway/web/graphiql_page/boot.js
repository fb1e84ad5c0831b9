// Starts GraphiQL over this server. Nothing is stored: a token is gone when the page is.
const WELCOME = `# 1. Write a token into "Headers" below.
# 2. Run this.
# 3. Fetch the schema again (left: the
#    round arrow) for documentation.

{
  viewer {
    scopes
  }
}
`;

/** A storage that ends with the page: GraphiQL's own keeps the headers of each request in its history. */
const kept = new Map();
const storage = {
  get length() {
    return kept.size;
  },
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => kept.set(key, value),
  removeItem: (key) => kept.delete(key),
  clear: () => kept.clear(),
};

const { GraphiQL, React, ReactDOM } = window;

ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: location.pathname }),
    storage,
    defaultQuery: WELCOME,
    defaultHeaders: '{ "Authorization": "Bearer " }',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
  }),
);
