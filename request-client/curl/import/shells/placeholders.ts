/**
 * `<url>` of documentation, which a shell would read as two redirections, and Markdown's `<https://...>`. A name with a
 * dot or a slash is a file; so is what stands before the name of an output file.
 */
const PLACEHOLDER =
  /<(?:(https?:\/\/[^\s<>"'`]+)|[A-Za-z][\w-]*(?: [\w-]+)*)>(?![ \t]*(?!https?:)[A-Za-z0-9_./])|<[A-Za-z][\w-]*>(?=[/.])/y;

export interface Placeholder {
  readonly text: string;
  readonly length: number;
  readonly about: string;
  readonly message: string;
}

/** The placeholder that begins at `at`, or null. */
export function readPlaceholder(bytes: string, at: number): Placeholder | null {
  PLACEHOLDER.lastIndex = at;
  const [about, address] = PLACEHOLDER.exec(bytes) ?? [];
  if (about === undefined) return null;
  return {
    text: address ?? about,
    length: about.length,
    about,
    message:
      address === undefined
        ? `${about} is a placeholder; it is kept as written`
        : `The angle brackets around ${address} were left out`,
  };
}
