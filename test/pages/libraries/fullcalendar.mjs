// FullCalendar: the "selectable dates" and "draggable events" demos of its documentation.
import { Calendar } from '@fullcalendar/core';
import dayGridPlugin from '@fullcalendar/daygrid';
import interactionPlugin from '@fullcalendar/interaction';
import timeGridPlugin from '@fullcalendar/timegrid';
main.innerHTML = '<div id="calendar"></div>';
globalThis.calendar = new Calendar(document.getElementById('calendar'), {
  plugins: [dayGridPlugin, interactionPlugin, timeGridPlugin], initialDate: '2024-05-15', editable: true, selectable: true, height: 650,
  headerToolbar: { left: 'prev,next today', center: 'title', right: 'dayGridMonth,timeGridWeek,timeGridDay' },
  events: [{ id: 'a', title: 'Conference', start: '2024-05-14' }, { id: 'b', title: 'Meeting', start: '2024-05-16T10:30:00' }, { id: 'c', title: 'Lunch', start: '2024-05-22' }],
  dateClick: ({ dateStr }) => say(dateStr), eventClick: ({ event }) => say(event.title), eventMouseEnter: ({ event }) => say(`over ${event.title}`),
});
calendar.render();
