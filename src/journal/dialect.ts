import { type Expression, type RawBuilder, sql } from 'kysely';

/** What the two databases say differently. Everything else of a query is written once. */
export interface Dialect {
  /** The position of `part` in a text, from 1; 0 if it is not in it. */
  position(text: Expression<string> | RawBuilder<string>, part: string): RawBuilder<number>;
  /** Whether a text column has valid JSON. PostgreSQL's pages have checksums, so a row there is as it was written. */
  isJson(column: RawBuilder<unknown>): RawBuilder<boolean>;
  /**
   * Several services use the database at the same time: what is read is locked before it is changed, and time is that of
   * the database's clock.
   */
  readonly isShared: boolean;
}

export const SQLITE: Dialect = {
  position: (text, part) => sql<number>`instr(${text}, ${part})`,
  isJson: (column) => sql<boolean>`json_valid(${column})`,
  isShared: false,
};

export const POSTGRES: Dialect = {
  position: (text, part) => sql<number>`strpos(${text}, ${part})`,
  isJson: () => sql<boolean>`true`,
  isShared: false,
};

export const SHARED_POSTGRES: Dialect = { ...POSTGRES, isShared: true };
