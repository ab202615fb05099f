/** A to-do list as the example tests of `create-playwright` know it: its names, classes, storage, and addresses. */
export const TODO_PAGE = `<!doctype html><title>Todos</title>
<style>.completed label { text-decoration: line-through } .editing .view { display: none } [hidden] { display: none }</style>
<h1>todos</h1><input class="new-todo" placeholder="What needs to be done?" autofocus>
<section class="main" hidden><input id="all" class="toggle-all" type="checkbox"><label for="all">Mark all as complete</label>
<ul class="todo-list"></ul></section>
<footer hidden><span class="todo-count" data-testid="todo-count"></span>
<a href="#/">All</a> <a href="#/active">Active</a> <a href="#/completed">Completed</a>
<button class="clear-completed">Clear completed</button></footer>
<script>
const KEY = 'react-todos';
let todos = JSON.parse(localStorage.getItem(KEY) || '[]');
let editing = -1;
const one = (selector) => document.querySelector(selector);
const make = (tag, members, ...children) => {
  const element = Object.assign(document.createElement(tag), members);
  element.append(...children);
  return element;
};
function save() {
  localStorage.setItem(KEY, JSON.stringify(todos));
  draw();
}
function finish(text) {
  if (editing === -1) return;
  const index = editing;
  editing = -1;
  if (text === '') todos.splice(index, 1);
  else if (text !== null) todos[index].title = text;
  save();
}
function item(todo, index) {
  const toggle = make('input', { className: 'toggle', type: 'checkbox', checked: todo.completed });
  toggle.setAttribute('aria-label', 'Toggle Todo');
  toggle.onchange = () => { todo.completed = toggle.checked; save(); };
  const label = make('label', { textContent: todo.title });
  label.dataset.testid = 'todo-title';
  const remove = make('button', { className: 'destroy', onclick: () => { todos.splice(index, 1); save(); } });
  remove.setAttribute('aria-label', 'Delete');
  const li = make('li', {}, make('div', { className: 'view' }, toggle, label, remove));
  li.dataset.testid = 'todo-item';
  li.className = [todo.completed && 'completed', index === editing && 'editing'].filter(Boolean).join(' ');
  li.ondblclick = () => { editing = index; draw(); one('.edit').focus(); };
  if (index === editing) {
    const edit = make('input', { className: 'edit', value: todo.title });
    edit.setAttribute('aria-label', 'Edit');
    edit.onkeydown = ({ key }) => {
      if (key === 'Enter') finish(edit.value.trim());
      if (key === 'Escape') finish(null);
    };
    edit.onblur = () => finish(edit.value.trim());
    li.append(edit);
  }
  return li;
}
function draw() {
  const filter = location.hash.slice(2);
  const shown = (todo) => filter === '' || (filter === 'completed') === todo.completed;
  const left = todos.filter(({ completed }) => !completed).length;
  one('.main').hidden = one('footer').hidden = todos.length === 0;
  one('.todo-list').replaceChildren(...todos.flatMap((todo, index) => (shown(todo) ? [item(todo, index)] : [])));
  one('.toggle-all').checked = left === 0;
  one('.todo-count').replaceChildren(make('strong', { textContent: left }), left === 1 ? ' item left' : ' items left');
  one('.clear-completed').hidden = left === todos.length;
  for (const link of document.links) link.className = link.hash === '#/' + filter ? 'selected' : '';
}
one('.new-todo').onkeydown = ({ key, target }) => {
  if (key !== 'Enter' || target.value.trim() === '') return;
  todos.push({ id: crypto.randomUUID?.() ?? String(todos.length), title: target.value.trim(), completed: false });
  target.value = '';
  save();
};
one('.toggle-all').onchange = ({ target }) => { for (const todo of todos) todo.completed = target.checked; save(); };
one('.clear-completed').onclick = () => { todos = todos.filter(({ completed }) => !completed); save(); };
onhashchange = draw;
draw();
</script>`;
