/**
 * A page whose one button is hard to hit. `setUp(kind)` puts it there anew, `tally()` tells how many tries reached it
 * exactly once (`right`), and how many presses reached anything else (`wrong`), and begins to count anew.
 */
export const HOSTILE_CASES = ['moving', 'late', 'covered', 'rerendered', 'swapped'];

export const HOSTILE_PAGE = `<!doctype html><title>Hostile</title>
<style>
  body { margin: 0; height: 100vh; position: relative; }
  #place button { position: absolute; top: 80px; left: 80px; width: 120px; height: 40px; }
  @keyframes slide { from { left: 600px } to { left: 80px } }
  .moving { animation: slide 60ms linear; }
  #cover { position: absolute; inset: 0; background: #fffa; }
</style>
<div id=place></div>
<script>
  let hits = 0, right = 0, wrong = 0;
  const count = () => { if (hits === 1) right++; else if (hits > 1) wrong += hits - 1; hits = 0; };
  addEventListener('click', (event) => {
    if (event.target.closest('[data-right]')) hits++; else wrong++;
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
  function setUp(kind) { count(); onpointermove = null; kinds[kind](); }
  function tally() { count(); const told = { right, wrong }; right = wrong = 0; return told; }
</script>`;
