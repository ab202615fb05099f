// Pikaday: the basic example of its README, and the range of its examples folder.
import 'pikaday/css/pikaday.css';
import Pikaday from 'pikaday';
main.innerHTML = `<p><label for="datepicker">Date:</label> <input type="text" id="datepicker"></p>
<p><label for="other">Start:</label> <input type="text" id="other"></p><div id="container"></div>`;
globalThis.picker = new Pikaday({ field: datepicker, onSelect: (date) => say(date.toDateString()) });
globalThis.inline = new Pikaday({ field: other, bound: false, container: document.getElementById('container'), defaultDate: new Date(2024, 4, 15), setDefaultDate: true, yearRange: [2020, 2030] });
