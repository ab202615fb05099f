const option = (text) => `[role=option] :: ${text}`;
export const also = '[role=option], [class*=indicatorContainer], [class*=-control]';
export const labels = [
  ['Favourite colour', '#one', 'select', 'Green', `chosen.one === 'green'`],
  ['Favourite colour', '#one', 'click', null, `document.querySelectorAll('[role=option]').length === 10`],
  ['Favourite colour', '#one', 'input', 'sil', `document.querySelectorAll('[role=option]').length === 1`],
  ['Slate', option('Slate'), 'click', null, `chosen.one === 'slate'`, { after: ['Favourite colour:click'] }],
  ['More colours', '#many', 'select', ['Blue'], `/blue/.test(chosen.many)`],
  ['More colours', '#many', 'click', null, `document.querySelectorAll('[role=option]').length === 8`],
  ['Remove Purple', '[aria-label="Remove Purple"]', 'click', null, `chosen.many === 'red'`],
  ['Remove Red', '[aria-label="Remove Red"]', 'click', null, `chosen.many === 'purple'`],
  ['Own colour', '#new', 'input', 'teal', `/Create "teal"/.test(main.textContent + document.body.textContent)`],
  ['Plain colour', '#plain', 'select', 'Forest', `chosen.plain === 'forest'`],
];
