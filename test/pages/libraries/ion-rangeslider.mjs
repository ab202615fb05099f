// Ion.RangeSlider: one thumb and two, of its demo; a thumb says its number in the hidden field alone.
import './_jquery.mjs';
import './node_modules/ion-rangeslider/css/ion.rangeSlider.css';
import 'ion-rangeslider';
main.innerHTML = `<label for="price">Price</label><input type="text" id="price" value="">
<label for="budget">Budget</label><input type="text" id="budget" value="">
<p>Month</p><input type="text" id="month" value="">`;
$('#price').ionRangeSlider({ min: 0, max: 1000, from: 550 });
$('#budget').ionRangeSlider({ type: 'double', grid: true, min: 0, max: 1000, from: 200, to: 800, prefix: '$' });
$('#month').ionRangeSlider({ grid: true, from: 3, values: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'] });
