// A Quill editor with the usual toolbar.
import Quill from 'quill';
import 'quill/dist/quill.snow.css';
new Quill('#editor', { theme: 'snow', placeholder: 'Write your letter', modules: { toolbar: [['bold', 'italic'], ['link'], [{ list: 'ordered' }]] } });
