// Bootstrap with its scripts.
import 'bootstrap/dist/css/bootstrap.css';
import * as bootstrap from 'bootstrap';
for (const element of document.querySelectorAll('[data-open]')) {
  if (element.dataset.open === 'modal') bootstrap.Modal.getOrCreateInstance(element).show();
  else bootstrap.Dropdown.getOrCreateInstance(element).show();
}
