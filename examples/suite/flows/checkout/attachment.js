// A file goes with the order.
// @checkout @upload
({ base }) => {
  File.write('written/card.txt', 'Happy birthday');
  Flow.run('./order', { base, upload: 'written/card.txt' });
  agent.expect('#order-attachment').toHaveText('card.txt (14 bytes)');
};
