const button = (name) => `trix-toolbar button[data-trix-attribute=${name}]`;
const on = (name) => `document.querySelector('${button(name)}').classList.contains('trix-active')`;
export const also = 'trix-editor';
const typed = { after: ['Content:input'] };
export const labels = [
  ['Content', 'trix-editor', 'input', 'Hello world', `editor().getDocument().toString().trim() === 'Hello world'`],
  ['Bold', button('bold'), 'click', null, on('bold'), typed],
  ['Italic', button('italic'), 'click', null, on('italic'), typed],
  ['Strikethrough', button('strike'), 'click', null, on('strike'), typed],
  ['Heading', button('heading1'), 'click', null, `/<h1>/.test(x.value)`, typed],
  ['Quote', button('quote'), 'click', null, `/<blockquote>/.test(x.value)`, typed],
  ['Bullets', button('bullet'), 'click', null, `/<ul>/.test(x.value)`, typed],
  ['Numbers', button('number'), 'click', null, `/<ol>/.test(x.value)`, typed],
  ['Link', button('href'), 'click', null, `document.querySelector('.trix-dialog--link').dataset.trixActive !== undefined`, typed],
  ['Undo', 'trix-toolbar button[data-trix-action=undo]', 'click', null, `editor().getDocument().toString().trim() === ''`, typed],
  ['Content', 'trix-editor', 'clear', null, `editor().getDocument().toString().trim() === ''`, typed],
  ['Content', 'trix-editor', 'press', 'Enter', `editor().getDocument().toString().split('\\n').length === 3`, typed],
];
