// The AI SDK's loop of steps: node aisdk.mjs URL compat|chat|responses|anthropic stream|whole PROMPT
import { execSync } from "node:child_process";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import { z } from "zod";

const [url, api, way, prompt] = process.argv.slice(2);
const options = { baseURL: `${url}/v1`, apiKey: "k" };
const models = {
  compat: () => createOpenAICompatible({ name: "local", includeUsage: true, ...options })("scripted"),
  chat: () => createOpenAI(options).chat("scripted"),
  responses: () => createOpenAI(options)("scripted"),
  anthropic: () => createAnthropic(options)("scripted"),
};
const bash = ai.tool({
  description: "Run a command",
  inputSchema: z.object({ command: z.string(), timeout: z.number().int().optional() }),
  execute: async ({ command }) => execSync(command).toString(),
});
// Newer versions say `isStepCount`.
const steps = (ai.isStepCount ?? ai.stepCountIs)(30);
// Without it, later requests refer to items of earlier responses, which nobody has kept.
const providerOptions = { openai: { store: false } };
const request = { model: models[api](), tools: { bash }, stopWhen: steps, prompt, providerOptions };
if (way === "stream") {
  const result = ai.streamText({ ...request, onError: ({ error }) => console.error(error) });
  console.log(await result.text);
} else {
  console.log((await ai.generateText(request)).text);
}
