import { expect, test } from 'troupe/playwright';

test('the shop lists its products', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Products' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Blue teapot' })).toBeVisible();
});

test('a product has a price', async ({ page }) => {
  await page.goto('/products/blue-teapot');
  await expect(page.locator('.product .price')).toHaveText('€34.90');
});

test('a product that is not sold is not found', async ({ page }) => {
  const response = await page.goto('/products/nothing');
  expect(response?.status()).toBe(404);
});

test('the search finds what is typed', async ({ page }) => {
  await page.goto('/search');
  await page.getByLabel('Search for').fill('teapot');
  await page.getByRole('link', { name: 'Green teapot' }).click();
  await expect(page).toHaveURL('/products/green-teapot');
});

test.describe('the cart', () => {
  test.beforeEach(async ({ page }) => {
    await page.goto('/products/blue-teapot');
    await page.getByLabel('Quantity').fill('2');
    await page.getByRole('button', { name: 'Add to cart' }).click();
  });

  test('adds up', async ({ page }) => {
    await expect(page.locator('#total')).toHaveText('€69.80');
  });

  test('can be emptied', async ({ page }) => {
    page.on('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: /empty/i }).click();
    await expect(page.getByText('There is nothing here yet.')).toBeVisible();
  });

  test('belongs to one test alone', async ({ context, page }) => {
    await expect(page.getByRole('spinbutton', { name: 'Quantity of Blue teapot' })).toHaveValue('2');
    expect(await context.cookies()).not.toHaveLength(0);
  });
});
