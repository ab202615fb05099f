import { expect, test } from 'troupe/playwright';

async function logIn(page) {
  await page.goto('/login');
  await page.getByLabel('User name').fill('ada');
  await page.getByLabel('Password').fill('lovelace');
  await page.getByRole('button', { name: 'Log in' }).click();
}

test('a user logs in and is greeted', async ({ page }) => {
  await logIn(page);
  await expect(page.locator('.who')).toHaveText('Ada');
});

test('orders are for users alone', async ({ page }) => {
  await test.step('without a login', async () => {
    await page.goto('/orders');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Log in');
  });
  await test.step('after it', async () => {
    await logIn(page);
    await page.goto('/orders');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Orders');
  });
});

test('scripts of Troupe act on the same page', async ({ page, session }) => {
  await page.goto('/login');
  await session.run(`agent.act('{input}User name', 'input', 'grace')`);
  await expect(page.getByLabel('User name')).toHaveValue('grace');
});
