#!/bin/sh
# Plays a reviewer: notes how it was started, then says what the test has put into $FAKE_CLAUDE.
cd "$FAKE_CLAUDE" || exit 9
echo run >>runs
printf '%s\0' "$@" >arguments
env >environment
echo "$OLDPWD" >folder
# A reviewer whose client runs hooks all the same.
[ -f hook ] && "$(cat hook)" ccc supervisor-hook </dev/null >inner
[ -f lines.jsonl ] && cat lines.jsonl
[ -f stderr ] && cat stderr >&2
[ -f hang ] && exec sleep 60
[ -f code ] && exit "$(cat code)"
exit 0
