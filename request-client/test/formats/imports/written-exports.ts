/** An export as a tool writes it by its documented schema, and what the import makes of it. */
export interface WrittenExport {
  readonly what: string;
  readonly text: string;
  readonly format: string;
  /** Method and URL of each request, as they are written. */
  readonly requests: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly environments?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What warnings (not notes) are about. */
  readonly warns?: readonly string[];
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
