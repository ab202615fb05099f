// UIkit: the accordion, tab, dropdown, modal, switcher, slider and sortable examples of its documentation.
import 'uikit/dist/css/uikit.css';
import UIkit from 'uikit';
globalThis.UIkit = UIkit;
main.innerHTML = `<ul uk-accordion="animation: false" id="accordion"><li class="uk-open"><a class="uk-accordion-title" href>Item 1</a><div class="uk-accordion-content">One</div></li><li id="second"><a class="uk-accordion-title" href>Item 2</a><div class="uk-accordion-content">Two</div></li></ul>
<ul uk-tab="animation: false" id="tabs"><li><a href="#">Left</a></li><li id="right"><a href="#">Right</a></li></ul><div class="uk-switcher"><div>L</div><div>R</div></div>
<div class="uk-inline"><button class="uk-button uk-button-default" type="button">Click</button><div uk-dropdown="mode: click; animation: false" id="dropdown"><ul class="uk-nav"><li><a href="#active" onclick="say('active')">Active</a></li></ul></div></div>
<button class="uk-button" uk-toggle="target: #modal">Open modal</button><div id="modal" uk-modal><div class="uk-modal-dialog uk-modal-body"><h2 class="uk-modal-title">Headline</h2><button class="uk-button uk-modal-close" type="button">Cancel</button></div></div>
<ul uk-sortable="animation: 0" id="sortable" style="width:200px"><li id="i1" class="uk-card-body" style="padding:8px">Sort 1</li><li id="i2" style="padding:8px">Sort 2</li><li id="i3" style="padding:8px">Sort 3</li></ul>
<label><input class="uk-checkbox" type="checkbox" id="a"> Option A</label><label><input class="uk-radio" type="radio" name="r" id="b"> Option B</label><input class="uk-range" type="range" value="2" min="0" max="10" aria-label="Range" id="range">
<select class="uk-select" aria-label="Select" id="select"><option>Option 01</option><option>Option 02</option></select><button class="uk-button" onclick="UIkit.modal.confirm('UIkit confirm!').then(() => say('yes'), () => say('no'))">Confirm</button>`;
