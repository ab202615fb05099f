// Steps of a flow that benchmarks run, in both tongues: agent JS and Playwright. A step is its kind, then role and name of
// the element, then the value; `go` has a path. A value `$name` is the argument of that name. The role `input` is that of
// fields that ARIA has no role for, which Playwright finds by their label.

/** The source of a flow: a function of `{ base, ...args }` that answers the text of `answer`. */
export function flowOf(steps, answer) {
  const lines = steps.map(([kind, ...rest]) => {
    if (kind === 'go') return `agent.go(base + ${JSON.stringify(rest[0])});`;
    const [role, name, value] = rest;
    const locator = JSON.stringify(`{${role}}${name}`);
    if (kind === 'waits') return `agent.wait(${locator});`;
    if (kind === 'reads') return `match(agent.text(${locator}), ${JSON.stringify(name)});`;
    return `agent.act(${locator}, '${kind}'${value === undefined ? '' : `, ${valueSource(value)}`});`;
  });
  return `({ base, ...args }) => {\n  ${lines.join('\n  ')}\n  return agent.text('${answer}');\n}\n`;
}

function valueSource(value) {
  return value.startsWith('$') ? `args.${value.slice(1)}` : JSON.stringify(value);
}

/** The same steps in a page of Playwright's. */
export async function byPlaywright(page, steps, { base, ...args }, answer) {
  for (const [kind, ...rest] of steps) {
    if (kind === 'go') {
      await page.goto(base + rest[0]);
      continue;
    }
    const [role, name, given] = rest;
    const value = given?.startsWith('$') ? args[given.slice(1)] : given;
    const found =
      role === 'input' ? page.getByLabel(name, { exact: true }) : page.getByRole(role, { name, exact: true });
    if (kind === 'click') await found.click();
    else if (kind === 'input') await found.fill(value);
    else if (kind === 'select') await found.selectOption({ label: value });
    else if (kind === 'waits') await found.waitFor();
    else if (kind === 'reads') {
      const text = (await found.textContent())?.trim();
      if (text !== name) throw new Error(`${name} reads ${text}`);
    } else await found[kind]();
  }
  return page.locator(answer).textContent();
}
