export function measureDeadlines(options: { readonly files: number; readonly env?: NodeJS.ProcessEnv }): {
  readonly factor: number;
  readonly env: NodeJS.ProcessEnv;
};
export function deadlineFactor(machine: {
  readonly slowness: number;
  readonly waiting: number;
  readonly load: number;
  readonly cores: number;
  readonly files: number;
}): number;
