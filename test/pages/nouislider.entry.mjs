// noUiSlider with two handles.
import noUiSlider from 'nouislider';
import 'nouislider/dist/nouislider.css';
noUiSlider.create(document.querySelector('#price'), { start: [20, 80], range: { min: 0, max: 100 }, handleAttributes: [{ 'aria-label': 'Lowest' }, { 'aria-label': 'Highest' }] });
