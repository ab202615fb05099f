// Trix: the basic form of its README.
import 'trix/dist/trix.css';
import 'trix';
main.innerHTML = `<form><label for="x">Content</label><input id="x" type="hidden" name="content"><trix-editor input="x" aria-label="Content"></trix-editor></form>`;
globalThis.editor = () => document.querySelector('trix-editor').editor;
