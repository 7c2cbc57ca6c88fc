// The gate in front of a delegation, for Node: refuses an agent whose stage is not due yet.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const stageOf = { planner: "PLAN", architect: "ARCH", tester: "TEST", developer: "DEV", "code-reviewer": "REVIEW" };
const agentOf = Object.fromEntries(Object.entries(stageOf).map(([agent, stage]) => [stage, agent]));

function decide(payload) {
  let stages;
  try {
    const path = join(process.env.OVERTONE_HOME, "sessions", payload.session_id, "workflow.json");
    stages = JSON.parse(readFileSync(path, "utf8")).stages;
  } catch (error) {
    if (error.code === "ENOENT") return { result: "" };
    throw error;
  }
  const target = stageOf[payload.tool_input.subagent_type.replace(/^ot:/, "")];
  const keys = Object.keys(stages);
  const before = keys.slice(0, Math.max(0, keys.indexOf(target)));
  const missing = before.filter((key) => stages[key].status !== "completed");
  if (missing.length === 0) return { result: "" };
  const agent = agentOf[missing[0]];
  const next = `下一步請委派 ${agent.toUpperCase()}（ot:${agent}）。`;
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: `Overtone：${missing.join("、")} 必須先完成`,
      additionalContext: `⛔ 不可跳過必要階段：${missing.join("、")} 尚未完成。${next}`,
    },
  };
}

console.log(JSON.stringify(decide(JSON.parse(readFileSync(0, "utf8")))));
