/**
 * Where generated inputs begin: the same in every run, so that a failure is there for everybody. `TROUPE_SEED` tries
 * others.
 */
export const SEED = Number(process.env.TROUPE_SEED ?? 20_261_121);
