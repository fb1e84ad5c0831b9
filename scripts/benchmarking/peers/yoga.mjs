// graphql-yoga on Node's own HTTP server, with the caches for parsing and validation that it comes with.
import { createServer } from "node:http";
import { createSchema, createYoga } from "graphql-yoga";
import { host, port, resolvers, typeDefs } from "./beliefs.mjs";

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  context: ({ request }) => ({ principal: request.headers.get("x-principal") }),
  logging: false,
  graphiql: false,
  landingPage: false,
});
createServer(yoga).listen(port, host);
