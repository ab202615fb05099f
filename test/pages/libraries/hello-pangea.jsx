// hello-pangea/dnd: the vertical list and the two connected lists of its examples.
import { DragDropContext, Draggable, Droppable } from '@hello-pangea/dnd';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
function Column({ id, items }) {
  return <Droppable droppableId={id}>{(provided) => <div ref={provided.innerRef} {...provided.droppableProps} id={id} style={{ width: 220, minHeight: 120, padding: 8, margin: 8, background: '#eee', float: 'left' }}>
    {items.map((item, index) => <Draggable key={item} draggableId={item} index={index}>{(drag) => <div ref={drag.innerRef} {...drag.draggableProps} {...drag.dragHandleProps} id={item} style={{ padding: 12, marginBottom: 8, background: '#fff', ...drag.draggableProps.style }}>Quote {item}</div>}</Draggable>)}{provided.placeholder}</div>}</Droppable>;
}
function Board() {
  const [lists, setLists] = useState({ todo: ['a', 'b', 'c'], done: ['d', 'e'] });
  globalThis.lists = lists;
  const end = ({ source, destination }) => {
    if (!destination) return;
    const next = { todo: [...lists.todo], done: [...lists.done] };
    const [item] = next[source.droppableId].splice(source.index, 1);
    next[destination.droppableId].splice(destination.index, 0, item);
    setLists(next);
  };
  return <DragDropContext onDragEnd={end}><Column id="todo" items={lists.todo} /><Column id="done" items={lists.done} /></DragDropContext>;
}
createRoot(main).render(<Board />);
