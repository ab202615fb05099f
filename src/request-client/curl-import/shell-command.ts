/** One argument: bytes (see SourceText), variables marked. */
export interface Word {
  readonly text: string;
  /** Offset of its first character in the source. */
  readonly start: number;
  /** It is one unquoted variable and nothing else: a shell may make any number of words of it. */
  readonly bare: boolean;
}

/** Something that was read and not taken, or deserves a remark. */
export interface Remark {
  /** `note`: the request is the same without it. `warning`: what is sent may differ. */
  readonly level: 'note' | 'warning';
  /** What it is about: an option, an operator, a variable. */
  readonly about: string;
  readonly message: string;
  readonly at: number;
}

/** Why a command cannot be read. */
export interface Fault {
  readonly message: string;
  readonly at: number;
}

/** What a command finds on its standard input. */
export type Stdin =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly bytes: string }
  | { readonly kind: 'file'; readonly path: string };

/** One simple command of the paste. Words read before a fault are kept. */
export interface ShellCommand {
  readonly words: readonly Word[];
  readonly stdin: Stdin;
  readonly remarks: readonly Remark[];
  readonly fault: Fault | null;
  /** It takes its input from the command before it. */
  readonly piped: boolean;
}

/** A paste, read by one shell's rules. */
export interface ShellScript {
  readonly commands: readonly ShellCommand[];
  /** Variables that the paste itself sets, or gives a default for: `NAME=value`. Bytes. */
  readonly assigned: ReadonlyMap<string, string>;
}
