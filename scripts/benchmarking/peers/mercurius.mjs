// mercurius on fastify, with its JIT from the first use of a document on.
import fastify from "fastify";
import mercurius from "mercurius";
import { host, port, resolvers, typeDefs } from "./beliefs.mjs";

const app = fastify();
app.register(mercurius, {
  schema: typeDefs,
  resolvers,
  jit: 1,
  graphiql: false,
  context: (request) => ({ principal: request.headers["x-principal"] }),
});
await app.listen({ host, port });
