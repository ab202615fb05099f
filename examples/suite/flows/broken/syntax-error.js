// Fails: the file is no JavaScript.
// @broken
({ base }) => {
  agent.go(base);
  agent.expect('h1').toHaveText('Products';
};
