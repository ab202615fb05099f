const of = (id) => `#${id} + .select2 .select2-selection`;
const val = (id, v) => `String($('#${id}').val()) === '${v}'`;
export const also = '.select2-results__option, .select2-search__field';
export const labels = [
  ['Alabama', of('single'), 'select', 'Hawaii', val('single', 'Hawaii')],
  ['Alabama', of('single'), 'click', null, `document.querySelector('.select2-dropdown') !== null`],
  ['', '.select2-container--open .select2-search__field', 'input', 'wy', `document.querySelectorAll('.select2-results__option').length === 1`, { after: ['Alabama:click'] }],
  ['Oregon', '.select2-results__option :: Oregon', 'click', null, val('single', 'Oregon'), { after: ['Alabama:click'] }],
  ['Search', '#multiple + .select2 textarea', 'select', ['Alaska', 'Wyoming'], val('multiple', 'Alaska,Wyoming')],
  ['Search', '#multiple + .select2 textarea', 'click', null, `document.querySelectorAll('.select2-results__option').length === 7`],
  ['Select a state', of('cleared'), 'select', 'California', val('cleared', 'California')],
  ['Search', '#tags + .select2 textarea', 'input', 'violet', `document.querySelector('#tags + .select2 textarea').value === 'violet'`],
  ['Remove item', '#tags + .select2 .select2-selection__choice__remove', 'click', null, val('tags', '')],
  ['One', of('plain'), 'select', 'Two', val('plain', 'Two')],
];
