// Choices.js on a select, and on one that takes several.
import Choices from 'choices.js';
import 'choices.js/public/assets/styles/choices.css';
new Choices('#one', { searchEnabled: false, shouldSort: false });
new Choices('#many', { removeItemButton: true });
