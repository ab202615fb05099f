// dnd kit: the sortable preset's quick start and the droppable quick start of its documentation.
import { closestCenter, DndContext, KeyboardSensor, PointerSensor, useDraggable, useDroppable, useSensor, useSensors } from '@dnd-kit/core';
import { arrayMove, SortableContext, sortableKeyboardCoordinates, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
const box = { padding: 10, margin: 4, background: '#eee', width: 200, touchAction: 'none' };
function Row({ id }) {
  const { attributes, listeners, setNodeRef, transform, transition } = useSortable({ id });
  return <div ref={setNodeRef} id={`row-${id}`} style={{ ...box, transform: CSS.Transform.toString(transform), transition }} {...attributes} {...listeners}>Item {id}</div>;
}
function List() {
  const [items, setItems] = useState([1, 2, 3, 4]);
  globalThis.items = items;
  const sensors = useSensors(useSensor(PointerSensor), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
  const end = ({ active, over }) => { if (over && active.id !== over.id) setItems((all) => arrayMove(all, all.indexOf(active.id), all.indexOf(over.id))); };
  return <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={end}><SortableContext items={items} strategy={verticalListSortingStrategy}>{items.map((id) => <Row key={id} id={id} />)}</SortableContext></DndContext>;
}
function Piece({ id }) {
  const { attributes, listeners, setNodeRef, transform } = useDraggable({ id });
  return <button ref={setNodeRef} id={id} style={{ transform: CSS.Translate.toString(transform), touchAction: 'none' }} {...listeners} {...attributes}>Drag {id}</button>;
}
function Zone({ id, children }) {
  const { setNodeRef } = useDroppable({ id });
  return <div ref={setNodeRef} id={id} style={{ ...box, height: 60 }}>{children ?? `Zone ${id}`}</div>;
}
function Drop() {
  const [parent, setParent] = useState(null);
  globalThis.parent_ = parent;
  return <DndContext onDragEnd={({ over }) => setParent(over ? over.id : null)}>{parent === null ? <Piece id="piece" /> : null}{['A', 'B', 'C'].map((id) => <Zone key={id} id={id}>{parent === id ? <Piece id="piece" /> : null}</Zone>)}</DndContext>;
}
createRoot(main).render(<><List /><Drop /></>);
