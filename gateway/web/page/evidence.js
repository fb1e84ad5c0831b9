// @ts-check
/** A graph of evidence in the order in which it is drawn and told. Pure: no DOM. */
import { itemOf } from './items.js';

/**
 * @typedef {object} EvidenceNode
 * @property {any} item the belief or derived record
 * @property {number} depth the fewest steps that lead to it
 * @property {string[]} targets what it rests on, as far as that is shown
 * @property {number} hidden how much it rests on besides
 */
/**
 * @typedef {object} Evidence
 * @property {boolean} whole whether the record that was asked about is there
 * @property {boolean} complete whether all that it rests on is there
 * @property {EvidenceNode[][]} columns by depth; within one, near to what rests on it
 * @property {Map<string, EvidenceNode>} nodes by id
 */

/** @param {any} graph as EvidenceGraph answers it @returns {Evidence} */
export function evidenceOf(graph) {
  /** @type {Map<string, EvidenceNode>} */
  const nodes = new Map();
  for (const { depth, record } of graph.nodes) {
    const item = itemOf(record);
    nodes.set(item.id, { item, depth, targets: [], hidden: item.sourceIds?.length ?? 0 });
  }
  for (const { source, target } of graph.edges) {
    const node = nodes.get(source.recordId);
    if (!node || !nodes.has(target.recordId)) continue;
    node.targets.push(target.recordId);
    node.hidden -= 1;
  }
  return {
    whole: graph.roots.every((/** @type {any} */ root) => root.status === 'INCLUDED'),
    complete: graph.coverage.complete,
    columns: columnsOf(nodes),
    nodes,
  };
}

/** The ids of what rests on a node. @param {Evidence} evidence @param {string} id */
export function dependents({ nodes }, id) {
  return [...nodes.values()].filter(({ targets }) => targets.includes(id)).map(({ item }) => item.id);
}

/** @param {Map<string, EvidenceNode>} nodes */
function columnsOf(nodes) {
  /** @type {EvidenceNode[][]} */
  const columns = [];
  for (const node of nodes.values()) (columns[node.depth] ??= []).push(node);
  for (const [depth, column] of columns.entries()) {
    if (depth === 0) continue;
    const places = meanPlaces(columns[depth - 1]);
    const place = (/** @type {EvidenceNode} */ { item }) => places.get(item.id) ?? columns[depth - 1].length;
    column.sort((one, other) => place(one) - place(other));
  }
  return columns;
}

/** Where on average, in a column, that lies which rests on each target. @param {EvidenceNode[]} column */
function meanPlaces(column) {
  /** @type {Map<string, number[]>} */
  const places = new Map();
  for (const [place, { targets }] of column.entries()) {
    for (const id of targets) places.set(id, [...(places.get(id) ?? []), place]);
  }
  return new Map([...places].map(([id, all]) => [id, all.reduce((sum, place) => sum + place, 0) / all.length]));
}
