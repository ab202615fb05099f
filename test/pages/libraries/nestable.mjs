// Nestable: the list of its documentation. The list hears the press on the handles, which are its whole items.
import './_jquery.mjs';
import './node_modules/nestable2/dist/jquery.nestable.min.css';
import 'nestable2';
const item = (id, more = '') =>
  `<li class="dd-item" data-id="${id}"><div class="dd-handle">Item ${id}</div>${more}</li>`;
main.innerHTML = `<div class="dd"><ol class="dd-list">${item(1)}${item(2)}${item(3, `<ol class="dd-list">${item(4)}</ol>`)}</ol></div>`;
$('.dd').nestable();
