// Muuri: the grid demo of its documentation, with drag and two connected grids.
import Muuri from 'muuri';
main.innerHTML = `<style>.grid { position: relative; width: 560px; min-height: 130px; margin: 10px 0 } .item { position: absolute; width: 120px; height: 50px; margin: 5px; background: #59687d; color: #fff; touch-action: none } .content { height: 100%; cursor: move }</style>
<div class="grid one">${['One', 'Two', 'Three', 'Four'].map((name) => `<div class="item" id="${name}"><div class="content">${name}</div></div>`).join('')}</div>
<div class="grid two">${['Five', 'Six', 'Seven'].map((name) => `<div class="item" id="${name}"><div class="content">${name}</div></div>`).join('')}</div>`;
const options = { dragEnabled: true, dragSort: () => grids, layoutDuration: 0 };
globalThis.grids = [];
grids.push(new Muuri('.one', options), new Muuri('.two', options));
globalThis.order = (index) => grids[index].getItems().map((item) => item.getElement().id).join();
