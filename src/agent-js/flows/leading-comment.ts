/** The comment that a flow begins with, without its marks: what the flow is for, in its author's words. */
export function leadingComment(source: string): string {
  // As editors on Windows write it.
  const text = source.replace(/\r\n?/g, '\n');
  const block = /^\s*\/\*\*?([\s\S]*?)\*\//.exec(text)?.[1];
  if (block !== undefined) return block.replace(/^\s*\* ?/gm, '').trim();
  const lines = /^\s*((?:\/\/.*(?:\n|$)\s*)+)/.exec(text)?.[1] ?? '';
  return lines.replace(/^\s*\/\/ ?/gm, '').trim();
}
