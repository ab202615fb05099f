import { Builder, type WebDriver } from 'selenium-webdriver';
import type { Teardown } from './service.js';

/** A WebDriver session of the service, as a suite of Selenium opens one; ended when the test is over. */
export async function openSelenium(t: Teardown, url: string, capabilities: object = {}): Promise<WebDriver> {
  const driver = await new Builder()
    .usingServer(url)
    .withCapabilities({ browserName: 'chrome', ...capabilities })
    .build();
  t.teardown(() => driver.quit().catch(() => undefined));
  return driver;
}
