import { pageChanges } from '../changes.js';
import { discoveries } from './discoveries.js';

/** Has the page of an element tell what has come to react, so that `reactionsOf` knows. */
export function askPage({ ownerDocument }: Element): void {
  const { defaultView } = ownerDocument;
  if (defaultView !== null) discoveries()?.ask(defaultView, pageChanges.mutations);
}
