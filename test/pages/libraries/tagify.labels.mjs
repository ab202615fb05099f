const tag = (text) => `.tagify__tag[title="${text}"]`;
export const also = '.tagify__tag';
export const labels = [
  ['Tags input field', '.tagify__input', 'input', 'tag3', `document.querySelector('.tagify__input').textContent === 'tag3'`],
  ['remove tag', `${tag('tag1')} .tagify__tag__removeBtn`, 'click', null, 'basicTags.value.length === 1'],
  ['tag2', tag('tag2'), 'dblclick', null, `document.querySelector('.tagify__tag--editable') !== null`],
  ['Tags input field', '.tagify__input @1', 'click', null, `document.querySelector('.tagify__dropdown__item') !== null`],
  ['Ada', '.tagify__dropdown__item :: Ada', 'click', null, 'skillTags.value.length === 1', { after: ['Tags input field:click'] }],
];
