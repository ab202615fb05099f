/** The part of newman 6 that the tests use. */
declare module 'newman' {
  export interface RunSummary {
    readonly run: {
      readonly stats: { readonly requests: { readonly total: number; readonly failed: number } };
      readonly failures: readonly { readonly error: { readonly message: string } }[];
    };
  }
  const newman: {
    run(options: object, done: (error: Error | null, summary: RunSummary) => void): unknown;
  };

  export { newman as default };
}
