/** What would end a line, or change the order in which a reader sees its letters. */
const HIDDEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text as a JavaScript literal, on one line: whatever it holds, nothing of it is code. */
export function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  const single = inner.replaceAll("'", "\\'");
  return `'${single.replace(HIDDEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;
}
