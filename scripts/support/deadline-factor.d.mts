export function measureFactor(files: number): number;
export function stretchedBy(factor: number): {
  readonly NODE_OPTIONS: string;
  readonly TROUPE_TEST_DEADLINE_FACTOR: string;
};
export function deadlineFactor(machine: {
  readonly slowness: number;
  readonly waiting: number;
  readonly load: number;
  readonly cores: number;
  readonly files: number;
}): number;
