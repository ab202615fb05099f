/**
 * Characters that are invalid in XML 1.0 or misleading: control characters except tab and line feed, lone surrogates,
 * and marks that reverse the text direction.
 */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute of HTML or XML. Unprintable characters become U+FFFD. */
export function escapeMarkup(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
