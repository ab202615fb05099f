export class TapReader {
  constructor(show: (line: string) => void);
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly failedFiles: readonly string[];
  read(line: string): void;
}
