const notice = document.querySelector('#notice');
// Escape would close it unanswered, and the next page would ask again.
notice.addEventListener('cancel', (event) => event.preventDefault());
notice.showModal();
