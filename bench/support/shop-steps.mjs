// Thirty steps of somebody who buys in the example shop: log in, search, fill the cart, change it, check out.

/** See `steps.mjs`. `$date` is a day to come, `$reference` what the order is found again by. */
export const SHOP_STEPS = [
  ['go', '/login'],
  ['input', 'textbox', 'User name', 'ada'],
  ['input', 'textbox', 'Password', 'lovelace'],
  ['click', 'button', 'Log in'],
  ['click', 'link', 'Search'],
  ['input', 'searchbox', 'Search for', 'teapot'],
  ['waits', 'link', 'Blue teapot'],
  ['click', 'link', 'Blue teapot'],
  ['reads', 'heading', 'Blue teapot'],
  ['input', 'spinbutton', 'Quantity', '2'],
  ['click', 'button', 'Add to cart'],
  ['click', 'link', 'Products'],
  ['click', 'link', 'Desk lamp'],
  ['click', 'button', 'Add to cart'],
  ['input', 'spinbutton', 'Quantity of Desk lamp', '3'],
  ['click', 'button', 'Update cart'],
  ['click', 'button', 'Remove Desk lamp'],
  ['click', 'link', 'Check out'],
  ['reads', 'heading', 'Checkout'],
  ['input', 'textbox', 'Name', 'Ada Lovelace'],
  ['input', 'textbox', 'Street and number', '12 St James’s Square'],
  ['input', 'textbox', 'Postcode', 'SW1Y 4JH'],
  ['input', 'textbox', 'City', 'London'],
  ['select', 'combobox', 'Country', 'Belgium'],
  ['check', 'radio', 'Express, €12.50'],
  ['input', 'input', 'Delivery date', '$date'],
  ['input', 'textbox', 'Reference', '$reference'],
  ['input', 'textbox', 'Note for us', 'Please wrap each of them.'],
  ['check', 'checkbox', 'I accept the terms'],
  ['click', 'button', 'Place order'],
];
/** Where what the flow answers stands, and what that is. */
export const SHOP_ANSWER = '#order-total';
export const SHOP_TOTAL = '€82.30';
