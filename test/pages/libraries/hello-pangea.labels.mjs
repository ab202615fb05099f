const todo = (ids) => `lists.todo.join('') === '${ids}'`;
export const labels = [
  ['Quote a', '#a', 'drag', '#b', todo('bac')],
  ['Quote a', '#a', 'drag', '#c', todo('bca')],
  ['Quote c', '#c', 'drag', '#a', todo('cab')],
  ['Quote b', '#b', 'drag', '#done', `lists.done.includes('b')`],
  ['Quote a', '#a', 'drag', '#d', `lists.done.includes('a')`],
  ['Quote e', '#e', 'drag', '#b', `lists.todo.includes('e')`],
  ['Quote d', '#d', 'drag', '#todo', `lists.todo.includes('d')`],
  ['Quote c', '#c', 'focus', null, `document.activeElement.id === 'c'`],
];
