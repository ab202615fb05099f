/**
 * Control sequences of terminals (ECMA-48), with ESC or its C1 form: colors and other CSI sequences; strings for the terminal, such
 * as its title or a link (OSC, DCS, SOS, PM, APC), up to their end in the same line, so that one that does not end hides
 * nothing; and all others, such as "reset".
 */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f\n\r]{0,2000}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/**
 * Characters that a terminal obeys, that XML 1.0 does not allow, or that mislead a reader: control characters except tab and line
 * feed, lone surrogates, noncharacters, and marks that override the direction of the text around them.
 */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Text of pages, servers and other programs as terminals and reports may show it. Control sequences are taken out whole, CRLF is
 * a line feed, and every other character that is not to be printed becomes U+FFFD, so that it is seen that there was one.
 * Whoever writes to a terminal or into a report applies it, once, to what is written; JSON keeps values as they are.
 */
export function plainText(text: string): string {
  if (text.search(UNPRINTABLE) === -1) return text;
  return text.replace(SEQUENCES, '').replace(/\r\n/g, '\n').replace(UNPRINTABLE, '\ufffd');
}

/** The same in one line: breaks and tabs are spaces. */
export function plainLine(text: string): string {
  return plainText(text).replace(/[\t\n\u2028\u2029]+/g, ' ');
}

/**
 * JSON with the same values in which such characters are escaped, and those at which some readers of JSON lines end a line.
 * @param json as `JSON.stringify` writes it
 */
export function printableJson(json: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(UNPRINTABLE, escaped).replace(/[\u2028\u2029]/g, escaped);
}
