/** The SQL that takes a database from one version to the next; empty if there is nothing to do. */
export interface Migration {
  readonly sqlite: string;
  readonly postgres: string;
}
