// The official TypeScript SDK reads one turn: `node run_typescript_sdk.mjs SDK AGENT [--kinds]`.
//
// SDK is the path of its module, AGENT that of the program in the CLI's place. Tells what it
// measured in the shape of `measurement.py`.

import { pathToFileURL } from "node:url";

const [sdk, agent, flag] = process.argv.slice(2);

/** Processor time of this process so far, in seconds. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

let began = cpu();
const { query } = await import(pathToFileURL(sdk).href);
const import_s = cpu() - began;

let sayReady;
const ready = new Promise((resolve) => (sayReady = resolve));
let sayOver;
const over = new Promise((resolve) => (sayOver = resolve));

/** One prompt, once hands are shaken; then the input stays open until the result is there. */
async function* prompts() {
  await ready;
  began = cpu();
  yield {
    type: "user",
    session_id: "",
    parent_tool_use_id: null,
    message: { role: "user", content: [{ type: "text", text: "go" }] },
  };
  await over;
}

const turn = query({
  prompt: prompts(),
  options: { pathToClaudeCodeExecutable: agent, includePartialMessages: true },
});
await turn.initializationResult();
sayReady();

const kinds = {};
let messages = 0;
for await (const message of turn) {
  messages += 1;
  if (flag === "--kinds") kinds[message.type] = (kinds[message.type] ?? 0) + 1;
  if (message.type === "result") break;
}
const cpu_s = cpu() - began;
sayOver();

const peak_rss = process.resourceUsage().maxRSS * 1024;
const told = { messages, cpu_s, import_s, peak_rss, kinds: flag === "--kinds" ? kinds : null };
process.stdout.write(JSON.stringify(told) + "\n");
