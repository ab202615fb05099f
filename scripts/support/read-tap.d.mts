export interface TapResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly shown: readonly string[];
  readonly skips: readonly string[];
  readonly failure: { readonly test: string; readonly failure: string } | undefined;
  readonly plan: boolean;
}

export function readTap(lines: readonly string[]): TapResult;
