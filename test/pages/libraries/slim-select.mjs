// Slim Select: the single, multiple, placeholder and search examples of its site.
import 'slim-select/styles';
import SlimSelect from 'slim-select';
main.innerHTML = `<p>Single <select id="single"><option value="1">Value 1</option><option value="2">Value 2</option><option value="3">Value 3</option></select></p>
<p>Multiple <select id="multiple" multiple><option value="a" selected>Best</option><option value="b">Thing</option><option value="c">Ever</option></select></p>
<p>Placeholder <select id="placeholder"><option data-placeholder="true"></option><option value="x">Left</option><option value="y">Right</option></select></p>
<p>No search <select id="plain"><option value="k">Kiwi</option><option value="l">Lemon</option></select></p>`;
globalThis.pick = {
  single: new SlimSelect({ select: '#single', settings: { ariaLabel: 'Single' } }), multiple: new SlimSelect({ select: '#multiple', settings: { ariaLabel: 'Multiple' } }),
  placeholder: new SlimSelect({ select: '#placeholder', settings: { placeholderText: 'Where to?', ariaLabel: 'Direction', allowDeselect: true } }),
  plain: new SlimSelect({ select: '#plain', settings: { showSearch: false, ariaLabel: 'Fruit' } }),
};
