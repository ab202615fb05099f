// Web Awesome: the input, select, check box, radio, switch, slider, tabs, details, dialog and dropdown examples of its documentation.
import '@awesome.me/webawesome/dist/styles/webawesome.css';
import '@awesome.me/webawesome/dist/components/button/button.js';
import '@awesome.me/webawesome/dist/components/checkbox/checkbox.js';
import '@awesome.me/webawesome/dist/components/details/details.js';
import '@awesome.me/webawesome/dist/components/dialog/dialog.js';
import '@awesome.me/webawesome/dist/components/input/input.js';
import '@awesome.me/webawesome/dist/components/option/option.js';
import '@awesome.me/webawesome/dist/components/radio-group/radio-group.js';
import '@awesome.me/webawesome/dist/components/radio/radio.js';
import '@awesome.me/webawesome/dist/components/rating/rating.js';
import '@awesome.me/webawesome/dist/components/select/select.js';
import '@awesome.me/webawesome/dist/components/switch/switch.js';
import '@awesome.me/webawesome/dist/components/tab-group/tab-group.js';
import '@awesome.me/webawesome/dist/components/textarea/textarea.js';
main.innerHTML = `<wa-input id="name" label="What is your name?"></wa-input><wa-textarea id="notes" label="Notes"></wa-textarea>
<wa-select id="choice" label="Experience"><wa-option value="1">Novice</wa-option><wa-option value="2">Intermediate</wa-option><wa-option value="3">Advanced</wa-option></wa-select>
<wa-checkbox id="check">Checkbox</wa-checkbox><wa-switch id="toggle">Switch</wa-switch>
<wa-radio-group id="radios" label="Select an option"><wa-radio value="1">Option 1</wa-radio><wa-radio value="2">Option 2</wa-radio></wa-radio-group>
<wa-tab-group id="tabs"><wa-tab panel="general">General</wa-tab><wa-tab panel="custom">Custom</wa-tab><wa-tab-panel name="general">One</wa-tab-panel><wa-tab-panel name="custom">Two</wa-tab-panel></wa-tab-group>
<wa-details id="details" summary="Toggle Me">Inside</wa-details><wa-rating id="rating" label="Rating"></wa-rating>
<wa-dialog id="dialog" label="Dialog"><wa-button slot="footer" id="close" data-dialog="close">Close it</wa-button></wa-dialog><wa-button id="open" data-dialog="open dialog">Open Dialog</wa-button>`;
for (const one of main.querySelectorAll('[id]')) one.addEventListener('click', () => say(one.id));
