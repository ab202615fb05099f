/** What is used of Postman's libraries; they have no types of their own here. */
export interface Scope {
  readonly values: { each(visit: (variable: { key?: unknown; value?: unknown; disabled?: unknown }) => void): void };
  addLayer(values: unknown): void;
  syncVariablesFrom(values: object): void;
  toObject(): Record<string, unknown>;
  syncVariablesTo(): Record<string, unknown>;
  set(key: string, value: unknown): void;
  get(key: string): unknown;
  unset(key: string): void;
  clear(): void;
}

export interface SdkRequest {
  method: unknown;
  url: unknown;
  headers: unknown;
  body: unknown;
  auth: unknown;
  description?: unknown;
}

export interface Execution {
  readonly environment: Scope;
  readonly globals: Scope;
  readonly collectionVariables: Scope;
  readonly _variables: Scope;
  readonly request?: SdkRequest;
  readonly response?: object;
  readonly cookies?: object;
  readonly data: unknown;
  readonly return: { nextRequest?: unknown };
}

type New<Made> = new (...args: readonly unknown[]) => Made;

export interface Sdk {
  readonly Execution: New<Execution>;
  readonly VariableScope: New<Scope>;
  readonly Request: New<SdkRequest> & { isRequest(value: unknown): boolean };
  readonly Response: New<object>;
  readonly Cookie: New<object>;
  readonly CookieList: New<object>;
}
