// React Select: the single, multi and creatable selects of its home page.
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import Select from 'react-select';
import CreatableSelect from 'react-select/creatable';
const colours = ['Ocean', 'Blue', 'Purple', 'Red', 'Orange', 'Yellow', 'Green', 'Forest', 'Slate', 'Silver'].map((label) => ({ label, value: label.toLowerCase() }));
globalThis.chosen = {};
function Demo() {
  const keep = (name) => (value) => { chosen[name] = [value ?? []].flat().map((one) => one.value).join(); };
  return (
    <>
      <label htmlFor="one">Favourite colour</label>
      <Select inputId="one" options={colours} defaultValue={colours[0]} isClearable isSearchable onChange={keep('one')} />
      <label htmlFor="many">More colours</label>
      <Select inputId="many" options={colours} defaultValue={[colours[2], colours[3]]} isMulti onChange={keep('many')} />
      <label htmlFor="new">Own colour</label>
      <CreatableSelect inputId="new" isClearable options={colours} onChange={keep('created')} />
      <Select aria-label="Plain colour" inputId="plain" options={colours} isSearchable={false} onChange={keep('plain')} />
      <Select aria-label="Locked" inputId="off" isDisabled options={colours} />
    </>
  );
}
createRoot(main).render(<Demo />);
