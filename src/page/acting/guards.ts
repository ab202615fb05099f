import { WORLD } from '../page-calls.js';
import { frameOf } from '../tree/flat-tree.js';
import type { Guard, GuardTarget, Missed } from './guard.js';

/** Watches over the next input: it must land in the target, or, without one, nowhere in the documents around it. */
export function arm(inner: Document, target: GuardTarget | null): void {
  for (const one of outward(inner)) guardOf(one)?.arm(one === inner ? target : null);
}

/** Ends the watch and answers what was hit in the target's place, if anything was. */
export function disarm(inner: Document): Missed {
  let [hit, clicks]: [Element | null, number] = [null, 0];
  for (const one of outward(inner)) {
    const missed = guardOf(one)?.disarm();
    hit = missed?.hit ?? hit;
    clicks += missed?.clicks ?? 0;
  }
  return { hit, clicks };
}

/** Hears of each form of a document that is sent, until it is called with null. */
export function hearForms(inner: Document, listener: ((event: Event) => void) | null): void {
  guardOf(inner)?.hearForms(listener);
}

/** A document and those around it, as far as they can be reached. */
function outward(inner: Document): Document[] {
  const documents: Document[] = [];
  for (let one: Document | undefined = inner; one !== undefined; one = frameOf(one)?.ownerDocument) documents.push(one);
  return documents;
}

/** The guard of a frame's own world: isolated worlds of one name see each other where the documents do. */
function guardOf(inner: Document): Guard | null {
  const world: unknown = inner.defaultView === null ? undefined : Reflect.get(inner.defaultView, WORLD);
  return typeof world === 'object' && world !== null ? (world as { readonly guard: Guard }).guard : null;
}
