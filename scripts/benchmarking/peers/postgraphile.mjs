// PostGraphile 5 on Node's own HTTP server: its Amber preset over the view that the benchmark made for it.
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ schemas: ["peers"], poolConfig: { max: Number(process.env.CONNECTIONS) } })],
  grafserv: { graphiql: false, watch: false },
  grafast: { explain: false },
});
const server = createServer();
await instance.createServ(grafserv).addTo(server);
server.listen(Number(process.env.PORT), "127.0.0.1");
