export const also = 'wa-tab, wa-radio, wa-option, wa-rating';
export const labels = [
  ['What is your name?', '#name', 'input', 'Ada', `document.querySelector('#name').value === 'Ada'`],
  ['Notes', '#notes', 'input', 'Some notes', `notes.value === 'Some notes'`],
  ['Experience', '#choice', 'select', 'Advanced', `choice.value === '3'`],
  ['Experience', '#choice', 'click', null, `choice.open === true`],
  ['Intermediate', 'wa-option[value="2"]', 'click', null, `choice.value === '2'`, { after: ['Experience:click'] }],
  ['Checkbox', '#check', 'check', null, 'check.checked === true'],
  ['Switch', '#toggle', 'check', null, 'toggle.checked === true'],
  ['Option 1', 'wa-radio[value="1"]', 'click', null, `radios.value === '1'`],
  ['Option 2', 'wa-radio[value="2"]', 'check', null, `radios.value === '2'`],
  ['Custom', 'wa-tab[panel=custom]', 'click', null, `tabs.active === 'custom'`],
  ['Toggle Me', '#details', 'click', null, 'details.open === true'],
  ['Open Dialog', '#open', 'click', null, `document.querySelector('#dialog').open === true`],
  ['Close it', '#close', 'click', null, `document.querySelector('#dialog').open === false`, { after: ['Open Dialog'] }],
];
