// interact.js: the dragging, dropzone, resizing and tap demos of its documentation.
import interact from 'interactjs';
main.innerHTML = `<style>.box { width: 120px; height: 60px; margin: 10px; background: #29e; color: #fff; touch-action: none; user-select: none } .zone { width: 300px; height: 90px; background: #bfe4ff; margin: 10px }</style>
<div id="drag" class="box draggable">Drag me</div><div id="yes" class="box draggable">Yes drop</div><div id="no" class="box draggable">No drop</div>
<div id="inner" class="zone">Inner dropzone</div><div id="other" class="zone">Other dropzone</div><div id="tap" class="box">Tap me</div><div id="slider" style="width:300px;height:30px;background:#eee;margin:10px;touch-action:none">Slide</div>`;
globalThis.moved = {};
globalThis.dropped = {};
interact('.draggable').draggable({ listeners: { move({ target, dx, dy }) {
  const { x, y } = moved[target.id] ?? { x: 0, y: 0 };
  moved[target.id] = { x: x + dx, y: y + dy };
  target.style.transform = `translate(${x + dx}px, ${y + dy}px)`;
} } });
interact('#inner').dropzone({ accept: '#yes', overlap: 0.25, ondrop: ({ relatedTarget }) => { dropped.inner = relatedTarget.id; } });
interact('#other').dropzone({ overlap: 'pointer', ondrop: ({ relatedTarget }) => { dropped.other = relatedTarget.id; } });
interact('#tap').on('tap', () => say('tap')).on('doubletap', () => say('doubletap')).on('hold', () => say('hold'));
interact('#slider').draggable({ origin: 'self', lockAxis: 'x', listeners: { move: ({ pageX }) => { globalThis.slid = pageX; } } });
