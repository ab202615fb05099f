import type { WebDriver } from 'selenium-webdriver';

/** One test of a suite of Selenium. It throws when it fails. */
export interface SuiteCase {
  readonly name: string;
  /** @param site of the pages or of the shop, without a slash at the end */
  run(driver: WebDriver, site: string): Promise<void>;
}
