const of = (id) => `#${id} + .ss-main`;
const val = (id, v) => `pick.${id}.getSelected().join() === '${v}'`;
export const also = '.ss-option, .ss-value-delete, .ss-search input';
export const labels = [
  ['Single', of('single'), 'select', 'Value 3', val('single', '3')],
  ['Single', of('single'), 'click', null, `document.querySelector('.ss-content.ss-open-below, .ss-content.ss-open-above, .ss-content.ss-open, .ss-content.ss-dir-below, .ss-content.ss-dir-above') !== null`],
  ['Value 2', '.ss-content .ss-option :: Value 2', 'click', null, val('single', '2'), { after: ['Single:click'] }],
  ['', '.ss-content .ss-search input', 'input', '3', `[...document.querySelectorAll('.ss-content .ss-option')].filter((o) => o.textContent === 'Value 3').length === 1 && document.querySelector('.ss-content .ss-search input').value === '3'`, { after: ['Single:click'] }],
  ['Multiple', of('multiple'), 'select', ['Best', 'Ever'], val('multiple', 'a,c')],
  ['Thing', '.ss-content .ss-option :: Thing', 'click', null, val('multiple', 'a,b'), { after: ['Multiple:click'] }],
  ['Multiple', of('multiple'), 'click', null, `document.querySelectorAll('.ss-content[class*=open] , .ss-content[class*=ss-dir]').length > 0`],
  ['Direction', of('placeholder'), 'select', 'Right', val('placeholder', 'y')],
  ['Fruit', of('plain'), 'select', 'Lemon', val('plain', 'l')],
];
