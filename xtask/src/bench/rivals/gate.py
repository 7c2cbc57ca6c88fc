# The gate in front of a delegation, in Python: refuses an agent whose stage is not due yet.
import json
import os
import sys

STAGE_OF = {"planner": "PLAN", "architect": "ARCH", "tester": "TEST", "developer": "DEV", "code-reviewer": "REVIEW"}
AGENT_OF = {stage: agent for agent, stage in STAGE_OF.items()}


def decide(payload):
    path = os.path.join(os.environ["OVERTONE_HOME"], "sessions", payload["session_id"], "workflow.json")
    try:
        with open(path, encoding="utf-8") as file:
            stages = json.load(file)["stages"]
    except FileNotFoundError:
        return {"result": ""}
    target = STAGE_OF.get(payload["tool_input"]["subagent_type"].removeprefix("ot:"))
    if target not in stages:
        return {"result": ""}
    keys = list(stages)
    missing = [key for key in keys[: keys.index(target)] if stages[key]["status"] != "completed"]
    if not missing:
        return {"result": ""}
    agent = AGENT_OF[missing[0]]
    order = f"⛔ 不可跳過必要階段：{'、'.join(missing)} 尚未完成。下一步請委派 {agent.upper()}（ot:{agent}）。"
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": f"Overtone：{'、'.join(missing)} 必須先完成",
            "additionalContext": order,
        }
    }


print(json.dumps(decide(json.load(sys.stdin))))
