document.querySelector('#empty')?.addEventListener('submit', (event) => {
  if (!confirm('Remove everything from the cart?')) event.preventDefault();
});
