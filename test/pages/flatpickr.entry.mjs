// A flatpickr calendar that is always open.
import flatpickr from 'flatpickr';
import 'flatpickr/dist/flatpickr.css';
flatpickr('#day', { inline: true, defaultDate: '2030-06-15' });
