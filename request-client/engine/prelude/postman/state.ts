import type { ResponseState } from '../response-view.js';

/** A scope's variables with the values that scripts gave them. */
export type ScopeEntries = readonly (readonly [name: string, value: unknown])[];

export const SCOPE_NAMES = ['local', 'environment', 'collection', 'globals'] as const;
export type ScopeName = (typeof SCOPE_NAMES)[number];

/** What the host tells of the request that a script belongs to, in Postman's form. */
export interface PostmanState {
  readonly target: 'prerequest' | 'test';
  readonly info: {
    readonly id: string;
    readonly name: string;
    readonly path: readonly string[];
    readonly current: string;
    readonly iteration: number;
    readonly iterations: number;
  };
  readonly scopes: { readonly [name in ScopeName]: ScopeEntries };
  readonly folders: readonly ScopeEntries[];
  readonly data: object;
  readonly request: object;
  readonly url: string;
  readonly response: ResponseState | null;
  readonly cookies: readonly object[];
  readonly environmentName: string;
}
