// Tagify: a field with two tags, and one with suggestions, of its demos.
import '@yaireo/tagify/dist/tagify.css';
import Tagify from '@yaireo/tagify';
main.innerHTML = `<input id="basic" value="tag1, tag2"><p>Skills</p><input id="skills" placeholder="Write some skills">`;
globalThis.basicTags = new Tagify(basic);
globalThis.skillTags = new Tagify(skills, { whitelist: ['A# .NET', 'ABAP', 'Ada', 'Basic', 'Cobol'], dropdown: { enabled: 0 } });
