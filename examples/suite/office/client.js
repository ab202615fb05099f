// The script of the office's pages. What a page does not have is skipped.
const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const on = (selector, work) => one(selector)?.addEventListener('click', work);
const later = (ms, work) => setTimeout(work, ms);

// The table of the stock: filter, sort, edit.
one('#filter')?.addEventListener('input', ({ target }) => {
  const rows = all('#stock tbody tr');
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(target.value.toLowerCase());
  one('#count').textContent = `${rows.filter((row) => !row.hidden).length} products`;
});
for (const [column, button] of all('[data-sort]').entries()) {
  button.addEventListener('click', () => {
    const key = (row) => row.cells[column].textContent;
    const rows = all('#stock tbody tr').sort((a, b) => key(a).localeCompare(key(b), 'en', { numeric: true }));
    one('#stock tbody').append(...rows);
  });
}
for (const button of all('[data-edit]')) {
  button.addEventListener('click', () => {
    const cells = button.closest('tr').cells;
    const dialog = one('#edit');
    one('#edit-title').textContent = `Edit ${cells[0].textContent}`;
    one('#pieces').value = cells[2].textContent;
    dialog.onclose = () => {
      if (dialog.returnValue === 'save') cells[2].textContent = one('#pieces').value;
    };
    dialog.returnValue = '';
    dialog.showModal();
  });
}

// Dialogs of the browser, and one of the page.
const say = (text) => {
  one('#result').textContent = text;
};
on('[data-dialog=alert]', () => {
  alert('The stock is low: Desk lamp');
  say('Stock checked');
});
on('[data-dialog=confirm]', () => say(confirm('Delete the draft for good?') ? 'Draft deleted' : 'Draft kept'));
on('[data-dialog=prompt]', () => {
  const name = prompt('What is the draft called?', 'Spring');
  say(name === null ? 'Not renamed' : `Renamed to ${name}`);
});
on('[data-dialog=modal]', () => {
  const dialog = one('#publish');
  dialog.onclose = () => say(`Draft ${dialog.returnValue}`);
  dialog.showModal();
});

// Reports.
on('#prepare', () => {
  one('#ready').textContent = 'Preparing …';
  later(600, () => {
    one('#ready').innerHTML = '<a href="/office/reports/latest">Yearly report</a>';
  });
});
on('#export', () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([document.body.textContent], { type: 'text/plain' }));
  link.download = 'page.txt';
  link.click();
});

// Pages on which flows fail: broken.mjs.
on('#send', async () => {
  const response = await fetch('/office/broken/save', { method: 'POST' });
  const { error = '' } = await response.json();
  one('#state').textContent = response.ok ? 'Saved' : 'Not saved';
  one('#state').title = error;
});
on('#total', () => {
  const totals = undefined;
  one('#state').textContent = totals.sum;
});
on('#archive', () => {
  one('#state').textContent = confirm('Archive 3 orders? This cannot be undone.') ? 'Archived' : 'Not archived';
});
for (const slow of all('[data-later]')) {
  const { later: ms, text } = slow.dataset;
  later(Number(ms), () => {
    slow.textContent = text;
  });
}
