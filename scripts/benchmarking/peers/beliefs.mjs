// What mercurius and graphql-yoga share: the schema of a page, and the hand-written resolver behind it. It selects all
// columns in one named, prepared statement, walks the keyset, and maps rows to objects.
import pg from "pg";

const WORDS = {
  BeliefType: ["fact", "preference", "relationship", "user_model_attr", "procedure_pointer"],
  MemoryStatus: ["candidate", "provisional", "active", "superseded", "expired", "retired"],
  Sensitivity: ["public", "internal", "sensitive", "restricted"],
  Polarity: ["assert", "retract"],
  ClaimKind: [
    "ongoing_project", "goal", "role", "skill", "interest", "habit", "constraint", "recurring_state", "relationship",
    "preference", "resource", "project_fact",
  ],
  Derivation: ["direct", "hypothesis"],
  Longevity: ["ongoing", "durable", "tentative"],
  Portability: ["portable", "contextual", "local"],
  Authority: ["user", "affirmed", "inferred"],
};

const name = (word) => word.toUpperCase();
const enumerations = Object.entries(WORDS)
  .map(([type, words]) => `enum ${type} { ${words.map(name).join(" ")} }`)
  .join("\n");

export const typeDefs = `
${enumerations}
scalar DateTime
scalar UUID
type Memory {
  id: ID!
  subject: String!
  statement: String!
  beliefType: BeliefType!
  status: MemoryStatus!
  polarity: Polarity!
  scope: String!
  claimKind: ClaimKind!
  derivation: Derivation!
  longevity: Longevity!
  portability: Portability!
  authority: Authority!
  sensitivity: Sensitivity!
  confidence: Float!
  corroborationCount: Int!
  flaggedForReview: Boolean!
  conflictsWith: [ID!]!
  supersededBy: ID
  sourceSessionId: ID!
  sourceEventIds: [Int!]!
  formationRunId: UUID
  consolidationPolicyVersion: String
  originScopes: [String!]!
  validFrom: DateTime!
  validTo: DateTime
  expiresAt: DateTime
  lastEvidenceAt: DateTime
  lastUsedAt: DateTime
  lastReinforcedAt: DateTime
  createdAt: DateTime!
  updatedAt: DateTime!
}
type MemoryEdge { cursor: String! node: Memory! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type MemoryConnection { edges: [MemoryEdge!]! pageInfo: PageInfo! }
type Query { memories(ceiling: Sensitivity!, first: Int, after: String): MemoryConnection }
`;

// PostgreSQL writes 2025-01-01 00:00:00.123456+00. A Date would lose its microseconds.
const time = (text) => (text === "infinity" ? text : `${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
pg.types.setTypeParser(1184, time);
pg.types.setTypeParser(1700, Number);
pg.types.setTypeParser(20, Number);

const pool = new pg.Pool({ max: Number(process.env.CONNECTIONS), options: "-c TimeZone=UTC" });
const tenant = process.env.TENANT;

const select = (keyset) => `
  select id, display_subject, statement, belief_type, status, polarity, scope, claim_kind, derivation, longevity,
    portability, authority, sensitivity, confidence, corroboration_count, flagged_for_review, conflicts_with,
    superseded_by, source_session_id, source_event_ids, formation_run_id, consolidation_policy_version, origin_scopes,
    valid_from, valid_to, expires_at, last_evidence_at, last_used_at, last_reinforced_at, created_at, updated_at,
    store_position
  from beliefs
  where tenant_id = $1 and principal_id = $2 and store_position > 0 and sensitivity <= $3 and status in (1, 2)
    and ends_at > now() ${keyset}
  order by store_position desc, id limit $4`;
const FIRST_PAGE = { name: "first_page", text: select("") };
const NEXT_PAGE = {
  name: "next_page",
  text: select("and store_position <= $5 and (store_position < $5 or id > $6)"),
};

const names = Object.fromEntries(Object.values(WORDS).flat().map((word) => [word, name(word)]));
const types = WORDS.BeliefType.map(name);
const statuses = WORDS.MemoryStatus.map(name);
const sensitivities = WORDS.Sensitivity.map(name);

const memory = (row) => ({
  id: row.id,
  subject: row.display_subject,
  statement: row.statement,
  beliefType: types[row.belief_type],
  status: statuses[row.status],
  polarity: names[row.polarity],
  scope: row.scope,
  claimKind: names[row.claim_kind],
  derivation: names[row.derivation],
  longevity: names[row.longevity],
  portability: names[row.portability],
  authority: names[row.authority],
  sensitivity: sensitivities[row.sensitivity],
  confidence: row.confidence,
  corroborationCount: row.corroboration_count,
  flaggedForReview: row.flagged_for_review,
  conflictsWith: row.conflicts_with,
  supersededBy: row.superseded_by,
  sourceSessionId: row.source_session_id,
  sourceEventIds: row.source_event_ids,
  formationRunId: row.formation_run_id,
  consolidationPolicyVersion: row.consolidation_policy_version,
  originScopes: row.origin_scopes,
  validFrom: row.valid_from,
  validTo: row.valid_to,
  expiresAt: row.expires_at,
  lastEvidenceAt: row.last_evidence_at,
  lastUsedAt: row.last_used_at,
  lastReinforcedAt: row.last_reinforced_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const encode = (row) => Buffer.from(`${row.store_position},${row.id}`).toString("base64url");
const decode = (cursor) => Buffer.from(cursor, "base64url").toString().split(",");

async function memories(_, { ceiling, first = 50, after }, { principal }) {
  const limit = Math.min(first, 200);
  const values = [tenant, principal, sensitivities.indexOf(ceiling), limit + 1];
  const query = after ? { ...NEXT_PAGE, values: [...values, ...decode(after)] } : { ...FIRST_PAGE, values };
  const { rows } = await pool.query(query);
  const hasNextPage = rows.length > limit;
  if (hasNextPage) rows.pop();
  const edges = rows.map((row) => ({ cursor: encode(row), node: memory(row) }));
  return { edges, pageInfo: { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null } };
}

export const resolvers = { Query: { memories } };
export const port = Number(process.env.PORT);
export const host = "127.0.0.1";
