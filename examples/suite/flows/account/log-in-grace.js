// Logs in as the other user.
// @login
({ base }) => {
  Flow.run('./log-in', { base, user: 'grace', password: 'hopper' });
  agent.expect('.who').toHaveText('Grace');
};
