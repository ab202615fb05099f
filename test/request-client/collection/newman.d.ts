/** The part of newman 6 that the tests use. */
declare module 'newman' {
  interface ScriptRun {
    readonly error?: Error;
  }
  interface RunSummary {
    readonly run: {
      readonly stats: { readonly requests: { readonly total: number; readonly failed: number } };
      readonly failures: readonly { readonly error: { readonly message: string } }[];
      readonly executions: readonly {
        readonly cursor: { readonly ref: string };
        readonly item: { readonly name: string };
        readonly request?: { readonly method: string; readonly url: { toString(): string } };
        readonly response?: { readonly code: number };
        readonly requestError?: Error;
        readonly assertions?: readonly {
          readonly assertion: string;
          readonly skipped?: boolean;
          readonly error?: Error;
        }[];
        readonly prerequestScript?: readonly ScriptRun[];
        readonly testScript?: readonly ScriptRun[];
      }[];
    };
    readonly environment: {
      readonly values: { readonly members: readonly { readonly key: string; readonly value: unknown }[] };
    };
  }
  const newman: {
    run(options: object, done: (error: Error | null, summary: RunSummary) => void): unknown;
  };

  namespace newman {
    export type { RunSummary };
  }

  export { newman as default, type RunSummary };
}
