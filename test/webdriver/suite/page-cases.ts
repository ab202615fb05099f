import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { By, error, Key, until, type WebDriver, type WebElement } from 'selenium-webdriver';
import { Select } from 'selenium-webdriver/lib/select.js';
import type { SuiteCase } from './suite-case.js';

const PAGES = 'test/pages';
/** Pages that are visited only: each has what others do not. */
const VISITED = 14;

/** A test of one page, by its name without `.html`. */
function page(file: string, what: string, run: (driver: WebDriver) => Promise<void>): SuiteCase {
  return {
    name: `${file}: ${what}`,
    async run(driver, site) {
      await driver.get(`${site}/${file}.html`);
      await run(driver);
    },
  };
}

const button = (driver: WebDriver, name: string): Promise<WebElement> =>
  Promise.resolve(driver.findElement(By.xpath(`//button[normalize-space()='${name}']`)));

const OWN: readonly SuiteCase[] = [
  page('checks', 'boxes are checked and unchecked', async (driver) => {
    const [news, terms] = await driver.findElements(By.css('input[type=checkbox]'));
    deepEqual([await news?.isSelected(), await terms?.isSelected()], [true, false]);
    await news?.click();
    await terms?.click();
    deepEqual([await news?.isSelected(), await terms?.isSelected()], [false, true]);
  }),
  page('checks', 'of radios one is chosen', async (driver) => {
    const [red, green] = await driver.findElements(By.name('c'));
    await red?.click();
    await green?.click();
    deepEqual([await red?.isSelected(), await green?.isSelected()], [false, true]);
  }),
  page('selects', 'options are chosen by their text, and several at once', async (driver) => {
    const [country, toppings] = await driver.findElements(By.css('select'));
    if (country === undefined || toppings === undefined) throw new Error('The page has no selects');
    await new Select(country).selectByVisibleText('Belgium');
    equal(await country.getAttribute('value'), 'Belgium');
    const several = new Select(toppings);
    await several.selectByVisibleText('Ham');
    await several.selectByVisibleText('Olives');
    const chosen = await several.getAllSelectedOptions();
    deepEqual(await Promise.all(chosen.map((one) => one.getText())), ['Ham', 'Olives']);
  }),
  page('frames', 'a frame in a frame is entered and left', async (driver) => {
    await driver.switchTo().frame(0);
    await driver.switchTo().frame(0);
    equal(await driver.findElement(By.css('button')).getText(), 'Two deep');
    await driver.switchTo().parentFrame();
    await driver.findElement(By.css('input')).sendKeys('inside');
    equal(await driver.findElement(By.css('input')).getAttribute('value'), 'inside');
    await driver.switchTo().defaultContent();
    equal(await driver.findElement(By.css('button')).getText(), 'Outside');
  }),
  page('shadow', 'an open shadow root is searched', async (driver) => {
    const root = await driver.findElement(By.css('shop-card')).getShadowRoot();
    const input = await root.findElement(By.css('input'));
    await input.sendKeys('3');
    equal(await input.getAttribute('value'), '3');
  }),
  page('covered', 'a click on a covered button is refused, on a free one not', async (driver) => {
    await rejects((await button(driver, 'Under a veil')).click(), error.ElementClickInterceptedError);
    await (await button(driver, 'Free')).click();
  }),
  page('disabled', 'what is disabled says so and takes no text', async (driver) => {
    equal(await (await button(driver, 'Off')).isEnabled(), false);
    equal(await (await button(driver, 'On')).isEnabled(), true);
    await rejects(driver.findElement(By.css('fieldset input')).sendKeys('x'), error.WebDriverError);
  }),
  page('labels', 'fields are filled in, one after another by Tab', async (driver) => {
    await driver.findElement(By.id('a')).sendKeys('Ada', Key.TAB, 'Byron', Key.TAB, 'both');
    const fields = await driver.findElements(By.css('input'));
    const values = await Promise.all(fields.slice(0, 3).map((field) => field.getAttribute('value')));
    deepEqual(values, ['Ada', 'Byron', 'both']);
  }),
  page('hovered', 'what the mouse shows is shown and gone', async (driver) => {
    const link = await driver.findElement(By.linkText('Products'));
    await driver.actions().move({ origin: link }).perform();
    const one = await driver.findElement(By.css('.menu li a'));
    await driver.wait(until.elementIsVisible(one), 20_000);
    await driver
      .actions()
      .move({ origin: driver.findElement(By.css('p a')) })
      .perform();
    await driver.wait(until.elementIsNotVisible(one), 20_000);
  }),
  page('modal-dialog', 'a modal dialog covers what is behind it', async (driver) => {
    await rejects((await button(driver, 'Behind')).click(), error.ElementClickInterceptedError);
    await (await button(driver, 'Yes')).click();
  }),
  page('details', 'a disclosure opens', async (driver) => {
    equal(await driver.findElement(By.xpath("//button[.='Closed away']")).isDisplayed(), false);
    await driver.findElement(By.xpath("//summary[.='More']")).click();
    const shown = await driver.findElement(By.xpath("//button[.='Closed away']"));
    await driver.wait(until.elementIsVisible(shown), 20_000);
  }),
  page('offscreen', 'a button far below is scrolled to', async (driver) => {
    await (await button(driver, 'Bottom')).click();
    const y: number = await driver.executeScript('return scrollY');
    equal(y > 0, true, `scrolled to ${y}`);
  }),
];

/** Buttons of a page are pressed, whatever it is; one that cannot be is refused by an error that Selenium knows. */
async function visit(driver: WebDriver): Promise<void> {
  const seen = await driver.findElements(By.css('body *'));
  equal(seen.length > 0, true, 'the page has elements');
  for (const found of (await driver.findElements(By.css('button'))).slice(0, 3)) {
    const fault: unknown = await found.click().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (fault instanceof Error) match(fault.name, /Intercepted|NotInteractable|StaleElement|UnexpectedAlert/);
  }
  const picture: unknown = await driver.takeScreenshot().catch((thrown: unknown) => thrown);
  if (typeof picture === 'string') match(picture, /^iVBOR/);
  else match(String(picture), /UnexpectedAlert/);
}

export const PAGE_CASES: readonly SuiteCase[] = [
  ...OWN,
  ...readdirSync(PAGES)
    .filter((name) => name.endsWith('.html') && !OWN.some((own) => own.name.startsWith(`${name.slice(0, -5)}:`)))
    .slice(0, VISITED)
    .map((name) => page(name.slice(0, -5), 'buttons are pressed and a picture is taken', visit)),
];
