import { indexPerRoot } from './index-per-root.js';

const labels = indexPerRoot<Element, Element>((root, add) => {
  for (const label of root.querySelectorAll('label')) if (label.control !== null) add(label.control, label);
});

const referrers = indexPerRoot<string, Element>((root, add) => {
  for (const element of root.querySelectorAll('[aria-labelledby]')) {
    for (const id of element.getAttribute('aria-labelledby')?.split(/\s+/) ?? []) add(id, element);
  }
});

/** The labels of a control, in the order of the document: what `element.labels` says, which searches for each anew. */
export function labelsOf(control: Element): readonly Element[] {
  return labels(control, control);
}

/** The elements that say by `aria-labelledby` that this one names them. */
export function namedBy(element: Element): readonly Element[] {
  return element.id === '' ? [] : referrers(element, element.id);
}
