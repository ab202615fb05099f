// SweetAlert2: the examples of its site.
import Swal from 'sweetalert2';
const shows = {
  'Basic message': { title: 'Any fool can use a computer' },
  'Confirm delete': { title: 'Are you sure?', icon: 'warning', showCancelButton: true, confirmButtonText: 'Yes, delete it!' },
  'Three buttons': { title: 'Do you want to save the changes?', showDenyButton: true, showCancelButton: true, confirmButtonText: 'Save', denyButtonText: "Don't save" },
  'Ask for text': { title: 'Submit your user name', input: 'text', showCancelButton: true },
  'Ask for choice': { title: 'Select a fruit', input: 'select', inputOptions: { apples: 'Apples', bananas: 'Bananas' } },
  'Ask for consent': { title: 'Terms', input: 'checkbox', inputPlaceholder: 'I agree with the terms' },
};
main.innerHTML = Object.keys(shows).map((name) => `<button>${name}</button>`).join(' ');
main.onclick = async ({ target }) => { const options = shows[target.textContent]; if (options) { const result = await Swal.fire({ ...options, showClass: { popup: '' }, hideClass: { popup: '' } }); say(JSON.stringify([result.isConfirmed, result.isDenied, result.value ?? null])); } };
globalThis.Swal = Swal;
