export const also = '#sortable > li';
const order = (ids) => `[...sortable.children].map((one) => one.id).join('') === '${ids}'`;
export const labels = [
  ['Item 2', '#second .uk-accordion-title', 'click', null, `second.classList.contains('uk-open')`],
  ['Right', '#right a', 'click', null, `right.classList.contains('uk-active')`],
  ['Click', '.uk-inline > button', 'click', null, `dropdown.classList.contains('uk-open')`],
  ['Active', '#dropdown a', 'click', null, `heard.includes('active')`, { after: ['Click'] }],
  ['Open modal', 'button :: Open modal', 'click', null, `modal.classList.contains('uk-open')`],
  ['Cancel', '#modal .uk-modal-close', 'click', null, `!modal.classList.contains('uk-open')`, { after: ['Open modal'] }],
  ['Sort 1', '#i1', 'drag', '#i3', order('i2i3i1')],
  ['Sort 3', '#i3', 'drag', '#i1', order('i3i1i2')],
  ['Option A', '#a', 'check', null, 'a.checked'],
  ['Option B', '#b', 'check', null, 'b.checked'],
  ['Range', '#range', 'input', '7', `range.value === '7'`],
  ['Select', '#select', 'select', 'Option 02', `select.value === 'Option 02'`],
  ['Confirm', 'button :: Confirm', 'click', null, `document.querySelector('.uk-modal.uk-open') !== null`],
  ['Ok', '.uk-modal.uk-open .uk-button-primary', 'click', null, `heard.includes('yes')`, { after: ['Confirm'] }],
];
