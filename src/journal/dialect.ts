import { type Expression, type RawBuilder, sql } from 'kysely';

/** What the two databases say differently. Everything else of a query is written once. */
export interface Dialect {
  /** The position of `part` in a text, from 1; 0 if it is not in it. */
  position(text: Expression<string> | RawBuilder<string>, part: string): RawBuilder<number>;
  /** Whether a text column has valid JSON. PostgreSQL's pages have checksums, so a row there is as it was written. */
  isJson(column: RawBuilder<unknown>): RawBuilder<boolean>;
  /** The database's clock, in milliseconds since 1970. */
  readonly now: RawBuilder<number>;
  /** Whether others write at the same time, so that rows are locked. */
  readonly locksRows: boolean;
}

export const SQLITE: Dialect = {
  position: (text, part) => sql<number>`instr(${text}, ${part})`,
  isJson: (column) => sql<boolean>`json_valid(${column})`,
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  locksRows: false,
};

export const POSTGRES: Dialect = {
  position: (text, part) => sql<number>`strpos(${text}, ${part})`,
  isJson: () => sql<boolean>`true`,
  now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  locksRows: true,
};
