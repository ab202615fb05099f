/** Which labels belong to which control; for the length of one turn, in which nothing changes. */
let byRoot: Map<Node, Map<Element, Element[]>> | undefined;

/**
 * The labels of a control, in the order of the document. `element.labels` says the same and searches the whole document
 * for each control; here one search of a document or shadow root does for all that is in it.
 */
export function labelsOf(control: Element): readonly Element[] {
  if (byRoot === undefined) {
    byRoot = new Map();
    queueMicrotask(() => {
      byRoot = undefined;
    });
  }
  const root = control.getRootNode();
  let labels = byRoot.get(root);
  if (labels === undefined) {
    labels = collectLabels(root);
    byRoot.set(root, labels);
  }
  return labels.get(control) ?? [];
}

function collectLabels(root: Node): Map<Element, Element[]> {
  const labels = new Map<Element, Element[]>();
  if (!('querySelectorAll' in root)) return labels;
  for (const label of (root as ParentNode).querySelectorAll('label')) {
    const { control } = label;
    if (control === null) continue;
    const own = labels.get(control);
    if (own === undefined) labels.set(control, [label]);
    else own.push(label);
  }
  return labels;
}
