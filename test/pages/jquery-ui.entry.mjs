// jQuery UI's widgets on the elements of a page, by the attribute `data-ui`.
import jquery from 'jquery';
import 'jquery-ui/themes/base/all.css';
globalThis.jQuery = jquery;
globalThis.$ = jquery;
await import('jquery-ui/dist/jquery-ui.js');
for (const element of document.querySelectorAll('[data-ui]')) {
  jquery(element)[element.dataset.ui](JSON.parse(element.dataset.options ?? '{}'));
}
