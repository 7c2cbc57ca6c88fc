# The gate in front of a delegation, with jq: refuses an agent whose stage is not due yet.
# The payload is one line; neither cat nor a pipe is started for it.
IFS= read -r payload || [ -n "$payload" ] || exit 1
session=$(jq -r '.session_id' <<END
$payload
END
)
state="$OVERTONE_HOME/sessions/$session/workflow.json"
if [ ! -f "$state" ]; then
  echo '{"result":""}'
  exit 0
fi
exec jq -c --slurpfile state "$state" '
  {planner: "PLAN", architect: "ARCH", tester: "TEST", developer: "DEV", "code-reviewer": "REVIEW"} as $stage_of
  | ($stage_of | with_entries({key: .value, value: .key})) as $agent_of
  | $stage_of[.tool_input.subagent_type | ltrimstr("ot:")] as $target
  | $state[0].stages as $stages
  | ($stages | keys_unsorted) as $keys
  | [$keys[: ($keys | index($target))][] | select($stages[.].status != "completed")] as $missing
  | if ($missing | length) == 0 then {result: ""}
    else
      $agent_of[$missing[0]] as $next
      | {hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: "Overtone：\($missing | join("、")) 必須先完成",
          additionalContext: "⛔ 不可跳過必要階段：\($missing | join("、")) 尚未完成。下一步請委派 \($next | ascii_upcase)（ot:\($next)）。"
        }}
    end' <<END
$payload
END
