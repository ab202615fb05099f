const open = (title) => `Swal.isVisible() && Swal.getTitle().textContent === '${title}'`;
const button = (name) => `main button :: ${name}`;
const after = (name) => ({ after: [name] });
export const labels = [
  ['Basic message', button('Basic message'), 'click', null, open('Any fool can use a computer')],
  ['OK', '.swal2-confirm', 'click', null, 'heard.length === 1', after('Basic message')],
  ['Confirm delete', button('Confirm delete'), 'click', null, open('Are you sure?')],
  ['Yes, delete it!', '.swal2-confirm', 'click', null, `heard[0] === '[true,false,true]'`, after('Confirm delete')],
  ['Cancel', '.swal2-cancel', 'click', null, `heard[0] === '[false,false,null]'`, after('Confirm delete')],
  ['Three buttons', button('Three buttons'), 'click', null, open('Do you want to save the changes?')],
  ["Don't save", '.swal2-deny', 'click', null, `heard[0] === '[false,true,false]'`, after('Three buttons')],
  ['Ask for text', button('Ask for text'), 'click', null, open('Submit your user name')],
  ['', 'input.swal2-input', 'input', 'octocat', `Swal.getInput().value === 'octocat'`, after('Ask for text')],
  ['Ask for choice', button('Ask for choice'), 'click', null, open('Select a fruit')],
  ['', 'select.swal2-select', 'select', 'Bananas', `Swal.getInput().value === 'bananas'`, after('Ask for choice')],
  ['Ask for consent', button('Ask for consent'), 'click', null, open('Terms')],
  ['I agree', '.swal2-checkbox input', 'check', null, 'Swal.getInput().checked', after('Ask for consent')],
];
