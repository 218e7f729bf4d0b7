// Drives a CLI with the official TypeScript SDK and tells what came of it:
// `node drive.mjs SDK CLI PROJECT`. The object it prints is the same for the emulator and the
// real CLI, and the same as that of drive.py.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [sdkPath, cli, cwd] = process.argv.slice(2);
const { query, tool, createSdkMcpServer } = await import(pathToFileURL(sdkPath).href);
const { z } = createRequire(sdkPath)("zod");

const base = { pathToClaudeCodeExecutable: cli, cwd, settingSources: [], env: process.env };

/** Prompts that are written one at a time, each when the turn before it is over. */
function conversation(options) {
  const waiting = [];
  let wake;
  let open = true;
  async function* prompts() {
    while (open) {
      while (waiting.length) yield waiting.shift();
      await new Promise((resolve) => (wake = resolve));
    }
  }
  const stream = query({ prompt: prompts(), options: { ...base, ...options } });
  const messages = stream[Symbol.asyncIterator]();
  return {
    stream,
    messages,
    send(text) {
      waiting.push({
        type: "user",
        session_id: "",
        parent_tool_use_id: null,
        message: { role: "user", content: [{ type: "text", text }] },
      });
      wake?.();
    },
    async turn(text) {
      this.send(text);
      return this.rest();
    },
    async rest() {
      const texts = [];
      for (;;) {
        const { value, done } = await messages.next();
        if (done) return { texts, result: undefined };
        if (value.type === "assistant")
          for (const block of value.message.content) if (block.type === "text") texts.push(block.text);
        if (value.type === "result") return { texts, result: value };
      }
    },
    close() {
      open = false;
      wake?.();
    },
  };
}

async function plainQuery() {
  const texts = [];
  let session;
  for await (const message of query({ prompt: "say hello", options: base })) {
    if (message.type === "assistant")
      for (const block of message.message.content) if (block.type === "text") texts.push(block.text);
    if (message.type === "result") session = message.session_id;
  }
  return { texts, session };
}

async function streamingInput() {
  const talk = conversation({});
  const first = await talk.turn("say hello");
  const second = await talk.turn("say goodbye");
  talk.close();
  return { first: first.texts, second: second.texts, subtype: second.result.subtype };
}

async function permissions() {
  const asked = [];
  const canUseTool = async (name, input) => {
    asked.push(name);
    if ((input.file_path ?? "").endsWith("no.txt")) return { behavior: "deny", message: "not that one" };
    return { behavior: "allow", updatedInput: input };
  };
  const talk = conversation({ canUseTool });
  const allowed = await talk.turn("write one");
  const denied = await talk.turn("write no");
  talk.close();
  return {
    asked,
    texts: [...allowed.texts, ...denied.texts],
    denials: denied.result.permission_denials.length,
  };
}

async function hooks() {
  const seen = [];
  const before = async (input) => {
    seen.push(input.hook_event_name);
    return {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: "the hook says no",
      },
    };
  };
  const talk = conversation({ hooks: { PreToolUse: [{ matcher: "Write", hooks: [before] }] } });
  const { texts } = await talk.turn("write two");
  talk.close();
  return { seen, texts };
}

async function ownTools() {
  const called = [];
  const add = tool("add", "Adds two numbers", { a: z.number(), b: z.number() }, async (given) => {
    called.push(given);
    return { content: [{ type: "text", text: String(given.a + given.b) }] };
  });
  const server = createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [add] });
  const talk = conversation({ mcpServers: { calc: server }, allowedTools: ["mcp__calc__add"] });
  const { texts } = await talk.turn("add numbers");
  talk.close();
  return { called, texts };
}

/** Wait for the command to run: an interrupt just before it does may end the turn well. */
async function started() {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (existsSync(`${cwd}/started`)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the command never ran");
}

async function interrupt() {
  const talk = conversation({ allowedTools: ["Bash"] });
  talk.send("take long");
  for (;;) {
    const { value } = await talk.messages.next();
    if (value.type === "assistant") break;
  }
  await started();
  await talk.stream.interrupt();
  const interrupted = await talk.rest();
  const after = await talk.turn("say hello");
  talk.close();
  return { interrupted: interrupted.result.subtype, after: after.texts };
}

async function resumeAndFork(session) {
  const again = conversation({ resume: session });
  const resumed = await again.turn("say hello");
  again.close();
  const other = conversation({ resume: session, forkSession: true });
  const forked = await other.turn("say hello");
  other.close();
  return {
    same: resumed.result.session_id === session,
    new: forked.result.session_id !== session,
  };
}

async function controls() {
  const talk = conversation({});
  await talk.stream.setModel("haiku");
  await talk.stream.setPermissionMode("acceptEdits");
  const { texts, result } = await talk.turn("write three");
  const commands = await talk.stream.supportedCommands();
  talk.close();
  return {
    texts,
    haiku: Object.keys(result.modelUsage)[0].includes("haiku"),
    has_commands: commands.length > 0,
  };
}

const { session, ...asked } = await plainQuery();
const told = {
  query: asked,
  streaming: await streamingInput(),
  permissions: await permissions(),
  hooks: await hooks(),
  tools: await ownTools(),
  interrupt: await interrupt(),
  sessions: await resumeAndFork(session),
  controls: await controls(),
};
process.stdout.write(JSON.stringify(told) + "\n", () => process.exit(0));
