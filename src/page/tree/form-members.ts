/*
 * What elements around and in an element are, also for a form: its fields stand in for its members by their names, so that
 * `form.children` is the field of a booking page that is called so.
 */

const { call } = Function.prototype;

/** An accessor of elements as a function, which a form has no say in. */
function accessor<V>(prototype: object, key: string): (node: Node) => V {
  const get = Reflect.getOwnPropertyDescriptor(prototype, key)?.get;
  if (get === undefined) throw new TypeError(`${key} is missing`);
  return call.bind(get) as (node: Node) => V;
}

export const childrenOf = accessor<HTMLCollection>(Element.prototype, 'children');
export const childNodesIn = accessor<NodeListOf<ChildNode>>(Node.prototype, 'childNodes');
export const firstChildOf = accessor<Element | null>(Element.prototype, 'firstElementChild');
export const lastChildOf = accessor<Element | null>(Element.prototype, 'lastElementChild');
export const previousOf = accessor<Element | null>(Element.prototype, 'previousElementSibling');
export const nextOf = accessor<Element | null>(Element.prototype, 'nextElementSibling');
export const openRootOf = accessor<ShadowRoot | null>(Element.prototype, 'shadowRoot');
export const slotOf = accessor<HTMLSlotElement | null>(Element.prototype, 'assignedSlot');
export const parentIn = accessor<ParentNode | null>(Node.prototype, 'parentNode');
