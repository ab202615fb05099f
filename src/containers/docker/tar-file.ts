/** A file for {@link tarFile}. */
export interface TarEntry {
  readonly name: string;
  readonly mode: number;
  readonly content: Buffer;
}

const BLOCK = 512;

/** Small files as one tar archive (POSIX.1-1988, ustar): names of at most 100 bytes, no folders, owner root, time 0. */
export function tarFile(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ name, mode, content }) => [
    header(name, mode, content.length),
    content,
    Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function header(name: string, mode: number, bytes: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  };
  block.write(name, 0, 100, 'utf8');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(0, 136, 12);
  block.write('        0', 148, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}
