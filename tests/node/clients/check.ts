// Type-checked, never run: what the generated types say of scalars, enumerations, nulls, and of kinds of records.
import { BeliefType } from './types';
import type { Scalars } from './types';
import type { ItemsQuery, MemoryStatus, PageQuery } from './operations';

declare const page: PageQuery;
declare const items: ItemsQuery;
declare const scalars: Scalars;

const shown = page.memories!.nodes[0]!;
export const createdAt: string = shown.createdAt;
export const status: MemoryStatus = shown.status;
export const identifiers: [string, string] = [scalars.DateTime.output, scalars.UUID.output];
export const kinds: BeliefType[] = [BeliefType.Fact];
// @ts-expect-error A moment is a string in UTC, not a number.
export const wrongMoment: number = shown.createdAt;
// @ts-expect-error The formation run may be absent.
export const wrongRun: string = shown.formationRunId;

const item = items.memoryItems!.nodes[0]!;
export const said: string | undefined =
  item.__typename === 'DerivedMemory' ? item.content?.clauses[0]?.text : item.statement;
// @ts-expect-error Only a derived record has a kind.
export const wrongKind: string = item.recordKind;
