// Material UI: the text field, select, autocomplete, check box, switch, radio, slider, tabs, accordion, menu and dialog demos of its documentation.
import { Accordion, AccordionDetails, AccordionSummary, Autocomplete, Button, Checkbox, Dialog, DialogActions, DialogTitle, FormControl, FormControlLabel, InputLabel, Menu, MenuItem, Radio, RadioGroup, Select, Slider, Switch, Tab, Tabs, TextField } from '@mui/material';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
globalThis.state = {};
function Demo() {
  const [age, setAge] = useState('');
  const [tab, setTab] = useState(0);
  const [anchor, setAnchor] = useState(null);
  const [open, setOpen] = useState(false);
  const keep = (name) => (_, value) => { state[name] = value; };
  return <>
    <TextField id="standard" label="Name" onChange={(event) => { state.name = event.target.value; }} />
    <FormControl sx={{ minWidth: 120 }}><InputLabel id="age-label">Age</InputLabel><Select labelId="age-label" id="age" label="Age" value={age} onChange={(event) => { setAge(event.target.value); state.age = event.target.value; }}><MenuItem value={10}>Ten</MenuItem><MenuItem value={20}>Twenty</MenuItem><MenuItem value={30}>Thirty</MenuItem></Select></FormControl>
    <Autocomplete id="film" options={['The Godfather', 'Pulp Fiction', 'Inception']} sx={{ width: 300 }} onChange={keep('film')} renderInput={(params) => <TextField {...params} label="Movie" />} />
    <FormControlLabel control={<Checkbox onChange={keep('check')} />} label="Label" /><FormControlLabel control={<Switch onChange={keep('toggle')} />} label="Wifi" />
    <RadioGroup row aria-label="Gender" onChange={keep('gender')}><FormControlLabel value="female" control={<Radio />} label="Female" /><FormControlLabel value="male" control={<Radio />} label="Male" /></RadioGroup>
    <Slider aria-label="Volume" defaultValue={30} sx={{ width: 300 }} onChange={keep('volume')} />
    <Tabs value={tab} onChange={(_, value) => { setTab(value); state.tab = value; }}><Tab label="Item One" /><Tab label="Item Two" /></Tabs>
    <Accordion onChange={keep('accordion')}><AccordionSummary>Accordion 1</AccordionSummary><AccordionDetails>Inside</AccordionDetails></Accordion>
    <Button onClick={(event) => setAnchor(event.currentTarget)}>Dashboard</Button><Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}><MenuItem onClick={() => { state.menu = 'profile'; setAnchor(null); }}>Profile</MenuItem><MenuItem>Logout</MenuItem></Menu>
    <Button variant="outlined" onClick={() => setOpen(true)}>Open alert dialog</Button><Dialog open={open}><DialogTitle>Use location?</DialogTitle><DialogActions><Button onClick={() => { state.dialog = 'agree'; setOpen(false); }}>Agree</Button></DialogActions></Dialog>
  </>;
}
createRoot(main).render(<Demo />);
