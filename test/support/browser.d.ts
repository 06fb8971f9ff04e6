/** A tab of a real browser, with cookies of its own. */
export interface Tab {
  /** Errors of the console, violations of the policy, dialogs, and requests to other servers. */
  readonly complaints: string[]
  /** Opens a page and gives the status of its answer. */
  goto(path: string): Promise<number>
  path(): string
  fill(selector: string, text: string): Promise<void>
  /** Clicks and waits for the next page. */
  press(selector: string): Promise<void>
  /** The text that is seen. */
  text(): Promise<string>
  evaluate(expression: string): Promise<unknown>
  /** Serious faults that axe-core finds. */
  faults(): Promise<string[]>
  screenshot(path: string): Promise<unknown>
  close(): Promise<void>
}
export interface Browser {
  open(origin: string, look?: { readonly width?: number; readonly dark?: boolean }): Promise<Tab>
  close(): Promise<void>
}
export function openBrowser(): Promise<Browser>
