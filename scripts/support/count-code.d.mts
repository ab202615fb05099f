interface Counts {
  readonly room: string;
  readonly files: number;
  readonly lines: number;
}

export function countCode(
  repository: {
    readonly paths: readonly string[];
    read(path: string): string;
    readBytes(path: string): Uint8Array;
  },
  folder?: string,
): {
  readonly rooms: readonly Counts[];
  readonly sums: readonly Counts[];
  readonly data: readonly { readonly file: string; readonly bytes: number }[];
};
