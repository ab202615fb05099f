export function runTests(
  files: readonly string[],
  settings: { readonly jobs: number; readonly refuseSkips: boolean; readonly onLine: (line: string) => void },
): Promise<boolean>;
