/** One argument: bytes (see SourceText), with variables marked. */
export interface Word {
  readonly text: string;
  /** The offset of its first character in the source. */
  readonly start: number;
  /** It is a single unquoted variable, which a shell may expand to any number of words. */
  readonly bare: boolean;
}

/** A remark on something that was omitted or changed. */
export interface Remark {
  /** `note`: the request is the same without it. `warning`: the request may differ. */
  readonly level: 'note' | 'warning';
  /** The option, operator or variable that it concerns. */
  readonly about: string;
  readonly message: string;
  readonly at: number;
}

/** Why a command cannot be read. */
export interface Fault {
  readonly message: string;
  readonly at: number;
}

/** The standard input of a command. */
export type Stdin =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly bytes: string }
  | { readonly kind: 'file'; readonly path: string };

/** One simple command of the pasted text. Words read before a fault are kept. */
export interface ShellCommand {
  readonly words: readonly Word[];
  readonly stdin: Stdin;
  readonly remarks: readonly Remark[];
  readonly fault: Fault | null;
  /** It reads the output of the previous command. */
  readonly piped: boolean;
}

/** A pasted text, read by the rules of one shell. */
export interface ShellScript {
  readonly commands: readonly ShellCommand[];
  /** Variables that the text itself assigns, or gives a default for: `NAME=value`. Bytes. */
  readonly assigned: ReadonlyMap<string, string>;
}
