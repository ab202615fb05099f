// Shopify Draggable: the sortable, swappable and droppable examples of its site.
import { Droppable, Sortable, Swappable } from '@shopify/draggable';
main.innerHTML = `<style>li, .piece { width: 160px; padding: 8px; background: #eee; margin: 4px; list-style: none } .zone { width: 180px; height: 50px; border: 1px solid #999; margin: 4px }</style>
<ul id="sort"><li id="s1">First</li><li id="s2">Second</li><li id="s3">Third</li></ul><ul id="swap"><li id="w1">Red</li><li id="w2">Green</li><li id="w3">Blue</li></ul>
<div id="drop"><div class="zone" id="z1"><div class="piece" id="p1">Piece</div></div><div class="zone" id="z2"></div><div class="zone" id="z3"></div></div>`;
const delay = { mouse: 0, drag: 0, touch: 0 };
new Sortable(sort, { draggable: 'li', delay });
new Swappable(swap, { draggable: 'li', delay });
new Droppable(drop, { draggable: '.piece', dropzone: '.zone', delay });
globalThis.order = (id) => [...document.getElementById(id).children].filter((one) => one.localName === 'li' && !/mirror/.test(one.className)).map((one) => one.id).join();
