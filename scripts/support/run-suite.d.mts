interface Stage {
  readonly name: string;
  readonly steps: readonly { readonly file: string; readonly env: { readonly [name: string]: string } }[];
  readonly atOnce: number;
  readonly endsRun?: boolean;
  readonly secondTry: boolean;
}

interface StepResult {
  readonly step: { readonly file: string };
  readonly why?: string;
}

export function runSuite(
  stages: readonly Stage[],
  options: { readonly refuseSkips?: boolean; readonly print: (line: string) => void },
): Promise<{
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly StepResult[];
  readonly unsteady: readonly StepResult[];
}>;

export function describeUnsteady(unsteady: readonly StepResult[], commit: string): readonly string[];
