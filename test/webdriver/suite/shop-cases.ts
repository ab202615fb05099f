import { deepEqual, equal, match } from 'node:assert/strict';
import { By, Key, until, type WebDriver } from 'selenium-webdriver';
import { Select } from 'selenium-webdriver/lib/select.js';
import type { SuiteCase } from './suite-case.js';

const dayAfterTomorrow = (): string => new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);

const text = async (driver: WebDriver, css: string): Promise<string> => driver.findElement(By.css(css)).getText();
const click = async (driver: WebDriver, css: string): Promise<void> => driver.findElement(By.css(css)).click();
const button = (name: string) => By.xpath(`//button[normalize-space()='${name}']`);

/** What stands where a page is before the click is another document after it. */
async function press(driver: WebDriver, by: By): Promise<void> {
  const before = await driver.findElement(By.css('html'));
  await driver.findElement(by).click();
  await driver.wait(until.stalenessOf(before), 20_000);
}

async function logIn(driver: WebDriver, site: string, password = 'lovelace'): Promise<void> {
  await driver.get(`${site}/login`);
  await driver.findElement(By.id('user')).sendKeys('ada');
  await driver.findElement(By.id('password')).sendKeys(password);
  await press(driver, button('Log in'));
}

async function putInCart(driver: WebDriver, site: string, index: number): Promise<string> {
  await driver.get(`${site}/`);
  const link = (await driver.findElements(By.css('.cards h2 a')))[index];
  await driver.get((await link?.getAttribute('href')) ?? '');
  const name = await text(driver, 'h1');
  await press(driver, button('Add to cart'));
  return name;
}

async function fillIn(driver: WebDriver, reference: string): Promise<void> {
  const fields = { fullName: 'Ada Byron', street: 'Main Street 1', postcode: '1010', city: 'Vienna', reference };
  for (const [id, value] of Object.entries(fields)) await driver.findElement(By.id(id)).sendKeys(value);
  await new Select(await driver.findElement(By.id('country'))).selectByValue('AT');
  await click(driver, 'input[name=shipping][value=express]');
  await driver.executeScript(
    'arguments[0].value = arguments[1]',
    driver.findElement(By.id('deliveryDate')),
    dayAfterTomorrow(),
  );
  await click(driver, 'input[name=terms]');
}

/** A suite of people who test a shop: forms, waits, alerts, cookies, windows. */
export const SHOP_CASES: readonly SuiteCase[] = [
  {
    name: 'the first page lists products with prices',
    async run(driver, site) {
      await driver.get(`${site}/`);
      equal(await text(driver, 'h1'), 'Products');
      const prices = await driver.findElements(By.css('.cards .price'));
      for (const price of prices.slice(0, 3)) match(await price.getText(), /\d+\.\d\d/);
    },
  },
  {
    name: 'a product has a page of its own, and back leads to the list',
    async run(driver, site) {
      await driver.get(`${site}/`);
      const link = await driver.findElement(By.css('.cards h2 a'));
      const name = await link.getText();
      await link.click();
      await driver.wait(until.titleContains(name), 20_000);
      await driver.navigate().back();
      await driver.wait(until.titleContains('Products'), 20_000);
    },
  },
  {
    name: 'somebody logs in and is greeted',
    async run(driver, site) {
      await logIn(driver, site);
      match(await text(driver, '.who'), /Ada/);
    },
  },
  {
    name: 'a wrong password is refused',
    async run(driver, site) {
      await logIn(driver, site, 'byron');
      match(await text(driver, '[role=alert]'), /wrong/);
      equal(await driver.findElement(By.id('user')).getAttribute('value'), 'ada');
    },
  },
  {
    name: 'the session is a cookie, and without it nobody is logged in',
    async run(driver, site) {
      await logIn(driver, site);
      const cookie = await driver.manage().getCookie('shop');
      equal(cookie.httpOnly, true);
      await driver.manage().deleteCookie('shop');
      await driver.get(`${site}/orders`);
      match(await driver.getCurrentUrl(), /\/login\?next=/);
    },
  },
  {
    name: 'the search answers late, and each product appears when it is known',
    async run(driver, site) {
      await driver.get(`${site}/search`);
      await driver.findElement(By.id('q')).sendKeys('tea');
      const status = await driver.findElement(By.id('status'));
      await driver.wait(until.elementTextMatches(status, /^\d+ products?$/), 20_000);
      equal((await driver.findElements(By.css('#results li'))).length, Number.parseInt(await status.getText(), 10));
    },
  },
  {
    name: 'a search by Enter finds nothing for nonsense',
    async run(driver, site) {
      await driver.get(`${site}/search`);
      await driver.findElement(By.id('q')).sendKeys('xyzzy', Key.ENTER);
      const status = await driver.findElement(By.id('status'));
      await driver.wait(until.elementTextContains(status, 'Nothing found'), 20_000);
    },
  },
  {
    name: 'a product is put into the cart',
    async run(driver, site) {
      const name = await putInCart(driver, site, 0);
      equal(await text(driver, 'tbody td a'), name);
    },
  },
  {
    name: 'the total follows the quantity',
    async run(driver, site) {
      await putInCart(driver, site, 1);
      const euros = async () => Number((await text(driver, '#total')).replace(/[^\d.]/g, ''));
      const one = await euros();
      const quantity = await driver.findElement(By.css('tbody input'));
      await quantity.clear();
      await quantity.sendKeys('3');
      await press(driver, button('Update cart'));
      equal((await euros()).toFixed(2), (3 * one).toFixed(2));
    },
  },
  {
    name: 'a product is removed from the cart',
    async run(driver, site) {
      await putInCart(driver, site, 0);
      const name = await putInCart(driver, site, 2);
      await press(driver, By.css('tbody tr:first-child button'));
      const left = await driver.findElements(By.css('tbody td a'));
      deepEqual(await Promise.all(left.map((link) => link.getText())), [name]);
    },
  },
  {
    name: 'emptying the cart asks first',
    async run(driver, site) {
      await putInCart(driver, site, 0);
      await driver.findElement(button('Empty cart')).click();
      const alert = await driver.wait(until.alertIsPresent(), 20_000);
      match(await alert.getText(), /Remove everything/);
      await alert.dismiss();
      equal((await driver.findElements(By.css('tbody tr'))).length, 1);
      await driver.findElement(button('Empty cart')).click();
      await driver.wait(until.alertIsPresent(), 20_000);
      await driver.switchTo().alert().accept();
      await driver.wait(until.elementLocated(By.linkText('See the products')), 20_000);
    },
  },
  {
    name: 'an order needs all fields',
    async run(driver, site) {
      await logIn(driver, site);
      await putInCart(driver, site, 0);
      await driver.get(`${site}/checkout`);
      await press(driver, button('Place order'));
      match(await text(driver, '#street-fault'), /fill this in/);
      equal(await driver.findElement(By.id('street')).getAttribute('aria-invalid'), 'true');
    },
  },
  {
    name: 'an order is placed and is in the order book',
    async run(driver, site) {
      const reference = `se-${Math.random().toString(36).slice(2)}`;
      await logIn(driver, site);
      const name = await putInCart(driver, site, 1);
      await driver.get(`${site}/checkout`);
      await fillIn(driver, reference);
      await press(driver, button('Place order'));
      match(await text(driver, '[role=status]'), /placed/);
      equal(await text(driver, '#order-reference'), reference);
      const answer = await fetch(`${site}/api/orders?reference=${reference}`);
      const orders: { lines: { name: string }[] }[] = JSON.parse(await answer.text());
      deepEqual(
        orders.map(({ lines }) => lines.map((line) => line.name)),
        [[name]],
      );
    },
  },
  {
    name: 'two windows share the cart',
    async run(driver, site) {
      await putInCart(driver, site, 0);
      const first = await driver.getWindowHandle();
      await driver.switchTo().newWindow('tab');
      await driver.get(`${site}/cart`);
      equal((await driver.findElements(By.css('tbody tr'))).length, 1);
      await driver.close();
      await driver.switchTo().window(first);
      equal((await driver.getAllWindowHandles()).length, 1);
    },
  },
];
