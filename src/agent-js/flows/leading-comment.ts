/** The comment that a flow begins with, without its marks: what the flow is for, in its author's words. */
export function leadingComment(source: string): string {
  const block = /^\s*\/\*\*?([\s\S]*?)\*\//.exec(source)?.[1];
  if (block !== undefined) return block.replace(/^\s*\* ?/gm, '').trim();
  const lines = /^\s*((?:\/\/.*(?:\n|$)\s*)+)/.exec(source)?.[1] ?? '';
  return lines.replace(/^\s*\/\/ ?/gm, '').trim();
}
