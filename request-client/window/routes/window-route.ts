import { COLLECTION_ID } from '../../protocol/request-window.js';
import type { ReportProgress, Workspace } from '../workspace.js';

/** The input of a route: the parameters of its path, and the JSON body. */
export interface WindowCall {
  readonly workspace: Workspace;
  readonly params: readonly string[];
  readonly body: unknown;
  /** The initial folder of the file dialogs. */
  readonly folder: string;
}

/** A route that answers with one JSON value, or with lines of progress. */
export type WindowRoute = { readonly method: string; readonly path: RegExp } & (
  | { readonly answer: (call: WindowCall) => unknown }
  | { readonly follow: (call: WindowCall, report: ReportProgress, signal: AbortSignal) => Promise<void> }
);

export const ITEM = '(i\\d+)';
/** A folder, a request, or the collection. */
export const ANY_ITEM = `(i\\d+|${COLLECTION_ID})`;

export function at(path: string): RegExp {
  return new RegExp(`^/api/${path}$`);
}

/** A route that changes something and answers with the updated document. */
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
