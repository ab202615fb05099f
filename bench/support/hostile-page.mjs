/**
 * A page whose one button is hard to hit. `begin(kind, cases)` puts it there, and puts it there anew after each press that
 * reaches it; `tally()` tells how many presses did (`right`), and how many reached anything else (`wrong`).
 */
export const HOSTILE_CASES = ['moving', 'late', 'covered', 'rerendered', 'swapped'];

export const HOSTILE_PAGE = `<!doctype html><title>Hostile</title>
<style>
  body { margin: 0; height: 100vh; position: relative; }
  #place button { position: absolute; top: 80px; left: 80px; width: 120px; height: 40px; }
  @keyframes slide { from { left: 600px } to { left: 80px } }
  .moving { animation: slide 40ms linear; }
  #cover { position: absolute; inset: 0; background: #fffa; }
</style>
<output id=told></output><div id=place></div>
<script>
  let kind = '', right = 0, wrong = 0;
  addEventListener('click', (event) => {
    if (!event.target.closest('[data-right]')) { wrong++; return; }
    told.textContent = ++right + ' pressed';
    setUp();
  });
  const html = '<button data-right>Target</button>';
  const target = () => place.querySelector('[data-right]');
  const kinds = {
    moving() { place.innerHTML = html; target().className = 'moving'; },
    late() {
      place.innerHTML = html;
      target().disabled = true;
      setTimeout(() => { target().disabled = false; }, 8);
    },
    covered() {
      place.innerHTML = html + '<div id=cover>Loading</div>';
      setTimeout(() => cover.remove(), 8);
    },
    // Each sign of a pointer draws the button anew, as some frameworks do.
    rerendered() {
      place.innerHTML = html;
      let left = 3;
      onpointermove = () => { if (left-- > 0) place.innerHTML = html; };
    },
    // Another button takes its place when the pointer comes.
    swapped() {
      place.innerHTML = html + '<button style="left: 400px">Delete</button>';
      let left = 2;
      onpointermove = () => {
        if (left-- <= 0) return;
        const [one, two] = place.children;
        [one.style.left, two.style.left] = [two.style.left || '80px', one.style.left || '80px'];
      };
    },
  };
  function setUp() { onpointermove = null; kinds[kind](); }
  function begin(wanted) { kind = wanted; right = wrong = 0; setUp(); }
  function tally() { return { right, wrong }; }
</script>`;
