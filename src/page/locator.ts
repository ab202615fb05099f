/**
 * A locator as a script writes it (spec section 3). `{role}text`, `{^role}text` contains, `{role:2}text` the second,
 * `{*}text` any element; otherwise XPath where it begins as one, and CSS.
 */
export type Locator =
  | {
      readonly kind: 'text';
      /** `*` for any. */
      readonly role: string;
      /** White space folded; empty: any of that role. */
      readonly text: string;
      readonly contains: boolean;
      /** 1-based. */
      readonly index: number | undefined;
    }
  | { readonly kind: 'css'; readonly selector: string }
  | { readonly kind: 'xpath'; readonly path: string };

const BY_TEXT = /^\{(\^)?([^{}:^\s]+)(?::([1-9]\d{0,5}))?\}([\s\S]*)$/;

/** Undefined where the text begins with `{` but is no locator, or is empty. */
export function parseLocator(source: string): Locator | undefined {
  const trimmed = source.trim();
  if (trimmed === '') return undefined;
  if (trimmed.startsWith('{')) {
    const parts = BY_TEXT.exec(trimmed);
    const role = parts?.[2];
    if (parts === null || role === undefined) return undefined;
    return {
      kind: 'text',
      role: role.toLowerCase(),
      text: foldSpace(parts[4] ?? ''),
      contains: parts[1] !== undefined,
      index: parts[3] === undefined ? undefined : Number(parts[3]),
    };
  }
  if (/^(xpath=|\(*\.?\/\/)/.test(trimmed)) return { kind: 'xpath', path: trimmed.replace(/^xpath=/, '') };
  return { kind: 'css', selector: trimmed };
}

/** Names of tags by their form, and most often a text that is meant to be seen. */
const WORDS = /^[\p{L}][\p{L}\p{N}-]*( [\p{L}][\p{L}\p{N}-]*)*$/u;

/** How to write what somebody may have meant whose locator is words alone, for the end of an error; empty for others. */
export function meantByWords(source: string): string {
  const words = source.trim();
  return WORDS.test(words) ? ` as CSS; a text is written {*}${words}` : '';
}

/** A locator's text. */
export function formatLocator(parts: {
  readonly role: string;
  readonly text: string;
  readonly contains?: boolean | undefined;
  readonly index?: number | undefined;
}): string {
  const index = parts.index === undefined ? '' : `:${parts.index}`;
  return `{${parts.contains === true ? '^' : ''}${parts.role}${index}}${parts.text}`;
}

/** Runs of white space, of any kind, become one blank; none stays at the ends. */
export function foldSpace(text: string): string {
  // Nearly every name is as it should be.
  if (!/[^\S ]|[\u200b\u00ad]| {2}|^ | $/.test(text)) return text;
  return text.replace(/[\s\u200b\u00ad]+/g, (run) => (/^[\u200b\u00ad]+$/.test(run) ? '' : ' ')).trim();
}
