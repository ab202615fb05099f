import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * Clients of the MCP SDK end a stdio connection at a message of 10,485,760 bytes, and count what has come of the next one with
 * it. So a message stays below this, in bytes of JSON as it is sent.
 */
export const MAX_MESSAGE_BYTES = 10_000_000;
/** Pictures of one answer together, in characters of Base64: leaves room for its texts, each character of which may take six bytes. */
export const MAX_PICTURES_CHARS = 9_000_000;

const NOT_SENT =
  'The picture of the next line is not sent: the answer would be too large; return its file, width and height';

/** The answer with as many of its pictures, from the first on, as a message can have; the others are named. */
export function boundedAnswer(answer: CallToolResult): CallToolResult {
  if (longest(answer) <= MAX_MESSAGE_BYTES) return answer;
  const content = [...answer.content];
  let bytes = bytesOf(answer);
  for (let index = content.length - 1; index >= 0 && bytes > MAX_MESSAGE_BYTES; index -= 1) {
    const part = content[index];
    if (part?.type !== 'image') continue;
    content[index] = { type: 'text', text: NOT_SENT };
    bytes -= part.data.length - NOT_SENT.length;
  }
  if (bytes <= MAX_MESSAGE_BYTES) return { ...answer, content };
  const text = `The answer is too large to send: ${bytes} bytes. The script has run; return less, or a part`;
  const { structuredContent: _, ...rest } = answer;
  return { ...rest, content: [{ type: 'text', text }] };
}

function bytesOf(answer: CallToolResult): number {
  return Buffer.byteLength(JSON.stringify(answer));
}

/** The bytes that it takes at most, without writing its pictures. */
function longest({ content, ...rest }: CallToolResult): number {
  const sizes = content.map((part) => (part.type === 'image' ? part.data.length + 100 : bytesOf({ content: [part] })));
  return sizes.reduce((sum, size) => sum + size, bytesOf({ ...rest, content: [] }));
}
