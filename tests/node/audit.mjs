// Runs every audit of graphql-http against the URL of the first argument, with the token of the environment variable
// TOKEN, and writes the list of id, name and status, sorted by id, with the reason of each that is not ok.
import { serverAudits } from 'graphql-http';

const headers = { authorization: `Bearer ${process.env.TOKEN}` };
const audits = serverAudits({
  url: process.argv[2],
  fetchFn: (url, init = {}) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
});
const results = [];
for (const audit of audits) {
  const result = await audit.fn();
  results.push({ id: result.id, name: result.name, status: result.status, ...(result.reason && { reason: result.reason }) });
}
results.sort((one, other) => (one.id < other.id ? -1 : 1));
console.log(JSON.stringify(results, null, 1));
