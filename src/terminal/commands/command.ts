/** One option of a command, in the form that `node:util` parses, with what help says of it. */
export type Option = FlagOption | ValueOption;

interface Described {
  /** A sentence without its full stop. */
  readonly text: string;
  /** The heading in the list of all options. */
  readonly group?: string;
  /** On the first screen of help. A command in which no option is marked shows them all there. */
  readonly main?: true;
  /** Of earlier versions: parsed, and named nowhere. */
  readonly former?: true;
}

/** An option without a value. */
interface FlagOption extends Described {
  readonly type: 'boolean';
}

/** An option with a value. */
interface ValueOption extends Described {
  readonly type: 'string';
  /** What stands for the value in help, such as `FILE`. */
  readonly value: string;
  /** It may be repeated. */
  readonly multiple?: true;
}

export interface Options {
  readonly [name: string]: Option;
}

/**
 * A command or a subcommand. Parsing, help, completion, and docs/cli.md are made of it. Code in sentences stands in backticks,
 * which a terminal does not show.
 */
export interface Command {
  /** The words that call it, such as `requests run`. */
  readonly name: string;
  /** What follows the name, a line for each way to call it. */
  readonly usage: readonly string[];
  /** A sentence in the imperative, without its full stop. */
  readonly summary: string;
  /** Sentences that belong on the first screen. */
  readonly notes?: readonly string[];
  /** Sentences for `--help all` and docs/cli.md. */
  readonly details?: readonly string[];
  /** As typed. */
  readonly example?: string;
  readonly options: Options;
  /** What the exit codes 0, 1, and 2 mean, if it is not just done, failed, and called wrongly. */
  readonly exitCodes?: readonly [string, string, string?];
  /** Its home if `TROUPE_HOME` is not set: the current folder, or one of the user. */
  readonly home?: 'folder' | 'user';
  /** Words that may follow it and are no subcommands. */
  readonly words?: readonly string[];
}

/** `--url` of commands that use the service of a home. */
export const URL_OPTION = {
  type: 'string',
  value: 'URL',
  text: 'Use the service at URL (default: `TROUPE_URL`, else the one of the home)',
} as const;

export const FAIL_ON_FLAKY = {
  type: 'boolean',
  text: 'Fail the run if a flow passed only in a retry',
} as const;

export const FAIL_ON_REPAIRED = {
  type: 'boolean',
  text: 'Fail the run if a model had to complete a flow',
} as const;
