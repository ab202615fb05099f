/**
 * What can be different about the shop, so that flows written for the plain one break in the ways real sites break them:
 * - `rename`: buttons, links and fields have other words
 * - `move`: the menu stands below, and the fields of the checkout in another order
 * - `wrap`: the menu must be opened first, and choices are made with other controls
 * - `split`: the checkout has two steps
 * - `notice`: a cookie notice must be answered before the shop can be used
 */
const CHANGES = ['rename', 'move', 'wrap', 'split', 'notice'];

const WORDS = {
  plain: {
    add: 'Add to cart',
    cart: 'Cart',
    empty: 'Empty cart',
    update: 'Update cart',
    toCheckout: 'Check out',
    order: 'Place order',
    fullName: 'Name',
    street: 'Street and number',
    city: 'City',
    shipping: 'Shipping',
    deliveryDate: 'Delivery date',
    reference: 'Reference',
    terms: 'I accept the terms',
  },
  renamed: {
    add: 'Put in basket',
    cart: 'Basket',
    empty: 'Clear basket',
    update: 'Recalculate',
    toCheckout: 'Go to payment',
    order: 'Buy now',
    fullName: 'Full name',
    street: 'Address',
    city: 'Town',
    shipping: 'How should it come?',
    deliveryDate: 'Preferred day',
    reference: 'Your own order reference',
    terms: 'I have read the terms and agree to them',
  },
};

/**
 * The layout that a `?layout=` or the cookie asks for: `a` is the plain shop, `b` has every change, and a list such as
 * `rename-split` has some. Null for anything else.
 */
export function parseLayout(text) {
  const changes = text === 'b' ? CHANGES : text === 'a' ? [] : text.split('-');
  if (!changes.every((change) => CHANGES.includes(change))) return null;
  const has = (change) => changes.includes(change);
  return {
    id: text,
    words: has('rename') ? WORDS.renamed : WORDS.plain,
    moved: has('move'),
    wrapped: has('wrap'),
    split: has('split'),
    notice: has('notice'),
  };
}
