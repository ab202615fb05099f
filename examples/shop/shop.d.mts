export interface Shop {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

export function startShop(options?: { readonly port?: number; readonly host?: string }): Promise<Shop>;
