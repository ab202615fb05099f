import { COLLECTION_ID } from '../../../protocol/request-window.js';
import type { Tell, Workspace } from '../workspace.js';

/** What a route is given: the parts of its path that stand for something, and the JSON that was sent. */
export interface WindowCall {
  readonly workspace: Workspace;
  readonly params: readonly string[];
  readonly body: unknown;
  /** Where dialogs begin. */
  readonly folder: string;
}

/** A route answers with one JSON value, or with lines while something is under way. */
export type WindowRoute = { readonly method: string; readonly path: RegExp } & (
  | { readonly answer: (call: WindowCall) => unknown }
  | { readonly follow: (call: WindowCall, tell: Tell, signal: AbortSignal) => Promise<void> }
);

export const ITEM = '(i\\d+)';
/** A folder, a request, or the collection. */
export const ANY_ITEM = `(i\\d+|${COLLECTION_ID})`;

export function at(path: string): RegExp {
  return new RegExp(`^/api/${path}$`);
}

/** A route that changes something and answers with the document as it is then. */
export function changing(
  method: string,
  path: string,
  change: (call: WindowCall) => void | Promise<void>,
): WindowRoute {
  const answer = async (call: WindowCall): Promise<unknown> => {
    await change(call);
    return call.workspace.view;
  };
  return { method, path: at(path), answer };
}
