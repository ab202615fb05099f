const handle = (id) => `.dd-item[data-id="${id}"] > .dd-handle`;
const order = (ids) => `[...document.querySelectorAll('.dd > ol > li')].map((one) => one.dataset.id).join('') === '${ids}'`;
export const also = '.dd-handle';
export const labels = [
  ['Item 1', handle(1), 'drag', handle(2), order('213')],
  ['Item 2', handle(2), 'drag', handle(1), order('213')],
  ['Collapse', '[data-action=collapse]', 'click', null, `document.querySelector('.dd-collapsed') !== null`],
];
