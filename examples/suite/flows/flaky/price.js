// The price is wrong at every other visit.
// @flaky
({ base }) => {
  agent.go(`${base}/office/unsteady/price`);
  match(agent.text('#price'), '€34.90');
};
